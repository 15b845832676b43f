// semaphore: a number of permits.
#pragma once

#include <cstdint>
#include <system_error>

#include <vole/detail/left_behind.h>
#include <vole/detail/race.h>
#include <vole/detail/time.h>
#include <vole/detail/waitable.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// A weighted semaphore, first come, first served: a big request at the head of the queue is not
// overtaken by smaller ones behind it, nor by try_acquire(). release() hands its permits over and
// lets the goroutine that got them run; there may be more in the end than at the beginning. A request
// for more than there will ever be waits for ever, and so do those behind it: if nobody is left to
// release(), that is a deadlock and reported as one.
// A negative number, or more than 2147483647 permits, is fatal. So is its destruction while somebody
// waits, unless it is static and exit() destroys it.
class semaphore {
 public:
  explicit constexpr semaphore(std::int32_t permits) noexcept : state_{first(permits), {}} {}
  ~semaphore() {
    if ((detail::unseen::load(state_.word, std::memory_order_relaxed) & detail::wait_flag::all) !=
        0) [[unlikely]]
      detail::destroyed_while_used(state_, "semaphore");
  }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  // Waits until there are n permits, and takes them.
  void acquire(std::int32_t n = 1) noexcept {
    if (!try_acquire(n)) [[unlikely]]
      detail::semaphore_acquire_slow(state_, n), after_releases(true);
  }

  // Waits until the context is cancelled at the latest. In that case, and if it was cancelled before,
  // nothing is taken, and it throws std::system_error with the context's err(); the twins put that into
  // `error`. When the first in the queue gives up, those behind it may go on.
  void acquire(const context& ctx, std::int32_t n = 1) {
    std::error_code error;
    if (!acquire(ctx, n, error)) detail::throw_wait_ended("vole::semaphore::acquire", error);
  }
  bool acquire(const context& ctx, std::int32_t n, std::error_code& error) noexcept {
    if (n < 0) [[unlikely]]
      detail::semaphore_negative();
    return detail::may_wait(ctx, error) &&
           (try_acquire(n) ||
            after_releases(detail::semaphore_acquire_unless(state_, n, ctx, error)));
  }
  bool acquire(const context& ctx, std::error_code& error) noexcept {
    return acquire(ctx, 1, error);
  }

  [[nodiscard]] bool try_acquire(std::int32_t n = 1) noexcept {
    if (n <= 0) [[unlikely]] {
      if (n < 0) detail::semaphore_negative();
      detail::end_if_left_behind();
    }
    const std::uint64_t wanted = permits(n);
    std::uint64_t seen = detail::unseen::load(state_.word, std::memory_order_relaxed);
    while (seen >= wanted && (seen & detail::wait_flag::waiting) == 0)
      if (detail::unseen::compare_exchange_strong(state_.word, seen, seen - wanted,
                                                  std::memory_order_acquire,
                                                  std::memory_order_relaxed))
        return after_releases(true);
    detail::end_if_left_behind();
    return false;
  }

  // False: the time was over first, and nothing was taken. A time that is past only tries.
  [[nodiscard]] bool try_acquire_until(detail::any_time_point t, std::int32_t n = 1) noexcept {
    return try_acquire(n) ||
           after_releases(detail::semaphore_acquire_until(state_, n, detail::to_ns(t)));
  }
  [[nodiscard]] bool try_acquire_for(detail::any_duration d, std::int32_t n = 1) noexcept {
    return try_acquire(n) ||
           after_releases(detail::semaphore_acquire_until(state_, n, detail::deadline_after(d)));
  }

  void release(std::int32_t n = 1) noexcept {
    if (n < 0) [[unlikely]]
      detail::semaphore_negative();
    detail::race::release(&state_);
    std::uint64_t seen = detail::unseen::load(state_.word, std::memory_order_relaxed);
    while ((seen & detail::wait_flag::waiting) == 0 && seen + permits(n) <= most)
      if (detail::unseen::compare_exchange_strong(state_.word, seen, seen + permits(n),
                                                  std::memory_order_acq_rel,
                                                  std::memory_order_relaxed))
        return detail::end_if_left_behind();
    detail::semaphore_release_slow(state_, n);
  }

 private:
  bool after_releases(bool acquired) noexcept {
    return detail::race::acquired_if(acquired, &state_);
  }
  static constexpr std::uint64_t most =
      (std::uint64_t{0x80000000u} << detail::wait_flag::count_shift) - 1;

  static constexpr std::uint64_t permits(std::int32_t n) noexcept {
    return static_cast<std::uint64_t>(n) << detail::wait_flag::count_shift;
  }
  static constexpr std::uint64_t first(std::int32_t n) noexcept {
    if (n < 0) detail::semaphore_negative();
    return permits(n);
  }

  detail::waitable state_;
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
