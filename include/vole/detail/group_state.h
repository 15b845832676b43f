// What the goroutines of a group share: their number and their first exception. Not for users.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <utility>

#include <vole/detail/thrower.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

class first_error {
 public:
  // True: it is the first.
  bool offer(const std::exception_ptr& e, std::unique_ptr<thrower> by) noexcept {
    if (taken_.exchange(true, std::memory_order_relaxed)) return false;
    error_ = e;
    by_ = std::move(by);
    return true;
  }
  // Only when all calls of offer() are known to be over.
  void rethrow() const {
    if (error_ != nullptr) rethrow_from(error_, by_.get());
  }

 private:
  std::atomic<bool> taken_{false};
  std::exception_ptr error_;
  std::unique_ptr<thrower> by_;
};

class head_count {
 public:
  void enter() noexcept { inside_.fetch_add(1, std::memory_order_relaxed); }
  void leave() noexcept { inside_.fetch_sub(1, std::memory_order_relaxed); }
  bool any() const noexcept { return inside_.load(std::memory_order_relaxed) != 0; }

 private:
  std::atomic<int> inside_{0};
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
