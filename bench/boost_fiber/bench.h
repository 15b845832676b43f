// What the Boost.Fiber files share: the clock, the report, the tables, how a fiber starts.
#pragma once

#include <atomic>
#include <boost/fiber/condition_variable.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/fixedsize_stack.hpp>
#include <boost/fiber/mutex.hpp>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

namespace bench {

namespace fibers = boost::fibers;
using clock = std::chrono::steady_clock;

constexpr std::size_t kStackSize = 16 * 1024;

class stopwatch {
 public:
  double ns() const {
    return std::chrono::duration<double, std::nano>(clock::now() - start_).count();
  }
  double ms() const { return ns() / 1e6; }

 private:
  clock::time_point start_ = clock::now();
};

inline void report(const char* name, double value, const char* unit) {
  std::printf("%s %.2f %s\n", name, value, unit);
}

template <class F>
fibers::fiber start(F&& fn, std::size_t stack = kStackSize) {
  return fibers::fiber(fibers::launch::dispatch, std::allocator_arg, fibers::fixedsize_stack(stack),
                       std::forward<F>(fn));
}

// Counts down once; the waiter may destroy it as soon as wait() returns.
class wait_group {
 public:
  explicit wait_group(long n) : left_(n) {}
  void done() {
    if (left_.fetch_sub(1) != 1) return;
    const std::lock_guard lock(mutex_);
    zero_ = true;
    condition_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return zero_; });
  }

 private:
  std::atomic<long> left_;
  fibers::mutex mutex_;
  fibers::condition_variable condition_;
  bool zero_ = false;
};

struct benchmark {
  std::string_view name;
  int (*run)(long n);  // takes N and returns the program's exit status
  long default_n;
};

std::span<const benchmark> running();  // bench.cc: fibers alone
std::span<const benchmark> waiting();  // waiting.cc: channels, mutex

}  // namespace bench
