// wait_group: waits for a number of things to be done.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <vole/detail/spawn.h>
#include <vole/detail/waitable.h>

namespace vole {
inline namespace v0 {

// Waits for a number of things to be done. A negative count, destruction while it is not zero,
// and add() while waiters of the round before are still being released are fatal.
// Once done() has released a waiter it no longer touches the object.
class wait_group {
 public:
  constexpr wait_group() noexcept = default;
  ~wait_group() {
    if (state_.word.load(std::memory_order_relaxed) != 0) detail::wait_group_destroyed();
  }
  wait_group(const wait_group&) = delete;
  wait_group& operator=(const wait_group&) = delete;

  void add(std::int32_t n = 1) noexcept {
    const std::uint64_t delta = static_cast<std::uint64_t>(n) << detail::wait_flag::count_shift;
    const std::uint64_t old = state_.word.fetch_add(delta, std::memory_order_acq_rel);
    const auto now = static_cast<std::int32_t>((old + delta) >> detail::wait_flag::count_shift);
    if (now <= 0 || (old & detail::wait_flag::all) != 0) [[unlikely]]
      detail::wait_group_add_slow(state_, old, n);
  }
  void done() noexcept { add(-1); }

  void wait() noexcept {
    if (state_.word.load(std::memory_order_acquire) == 0) return;
    detail::wait_group_wait_slow(state_);
  }

  // Runs fn on a new goroutine that counts as one. If fn throws, the program ends.
  template <class F>
    requires std::invocable<std::decay_t<F>>
  [[gnu::always_inline]] inline void go(F&& fn) {
    add(1);
    try {
      detail::start_goroutine(nullptr, 0, done_after<std::decay_t<F>>{this, std::forward<F>(fn)});
    } catch (...) {
      done();
      throw;
    }
  }

 private:
  // Counts down when fn has returned or exit_goroutine() unwinds it, after fn is destroyed.
  template <class F>
  struct done_after {
    wait_group* group;
    std::optional<F> fn;

    void operator()() {
      struct finally {
        done_after& self;
        ~finally() {
          self.fn.reset();
          self.group->done();
        }
      } const at_the_end{*this};
      (*std::move(fn))();
    }
  };

  detail::waitable state_;
};

}  // namespace v0
}  // namespace vole
