// latch: a count that goes down to zero once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <system_error>

#include <vole/detail/left_behind.h>
#include <vole/detail/race.h>
#include <vole/detail/waitable.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// std::latch: its waiters go on when it has been counted down `expected` times; it is not used
// again. Goroutines park, plain threads block. A negative number, and counting down by more than is
// left, are fatal. Once count_down() has released a waiter it no longer touches the object. Its
// destruction while somebody waits is fatal, unless it is static and exit() destroys it.
class latch {
 public:
  // The highest count.
  static constexpr std::ptrdiff_t max() noexcept { return INT32_MAX; }

  explicit constexpr latch(std::ptrdiff_t expected) noexcept : state_{first(expected), {}} {}
  ~latch() {
    if ((detail::unseen::load(state_.word, std::memory_order_relaxed) & detail::wait_flag::all) !=
        0) [[unlikely]]
      detail::destroyed_while_used(state_, "latch");
  }
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  void count_down(std::ptrdiff_t n = 1) noexcept {
    detail::race::release(&state_);
    const std::uint64_t old = detail::unseen::fetch_sub(
        state_.word, static_cast<std::uint64_t>(n) << detail::wait_flag::count_shift,
        std::memory_order_acq_rel);
    const auto left = static_cast<std::ptrdiff_t>(old >> detail::wait_flag::count_shift);
    if (n < 0 || n >= left || detail::left_behind() != 0) [[unlikely]]
      detail::latch_count_down_slow(state_, old, n);
  }

  // Is the count zero? Does not wait.
  [[nodiscard]] bool try_wait() const noexcept {
    detail::end_if_left_behind();
    return detail::race::acquired_if(
        detail::unseen::load(state_.word, std::memory_order_acquire) == 0, &state_);
  }
  void wait() const noexcept {
    if (try_wait()) return;
    detail::latch_wait_slow(state_);
    detail::race::acquire(&state_);
  }
  // Until the context is cancelled at the latest: then std::system_error with its err(), which the
  // twin puts into `error`. So it is, too, if the context was cancelled before.
  void wait(const context& ctx) const {
    std::error_code error;
    if (!wait(ctx, error)) detail::throw_wait_ended("vole::latch::wait", error);
  }
  bool wait(const context& ctx, std::error_code& error) const noexcept {
    return detail::may_wait(ctx, error) &&
           (try_wait() ||
            detail::race::acquired_if(detail::latch_wait_unless(state_, ctx, error), &state_));
  }

  // Counts down by n, then waits for zero.
  void arrive_and_wait(std::ptrdiff_t n = 1) noexcept {
    count_down(n);
    wait();
  }

 private:
  static constexpr std::uint64_t first(std::ptrdiff_t n) noexcept {
    if (n < 0 || n > max()) detail::latch_expected();
    return static_cast<std::uint64_t>(n) << detail::wait_flag::count_shift;
  }

  mutable detail::waitable state_;
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
