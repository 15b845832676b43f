// shared_mutex: many readers or one writer.
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

// Go's sync.RWMutex. SharedTimedLockable: std::shared_lock works. A writer that waits keeps new
// readers out, until it has had its turn or gives up; when a writer unlocks, all readers that queued
// meanwhile go first, then the next writer. So a goroutine that reads must not lock_shared() again:
// a writer may have come in between. A goroutine that locks a second time, in any other way, waits for
// ever: that is a deadlock, and reported as one if nobody else is left.
// Unlocking what is not locked is fatal. So is its destruction while somebody waits, unless it is
// static and exit() destroys it.
class shared_mutex {
 public:
  constexpr shared_mutex() noexcept = default;
  ~shared_mutex() { detail::destroying(state_, "shared_mutex"); }
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  // Waits until nobody has it, and takes it alone.
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      detail::shared_lock_slow(state_), sign();
  }
  // Takes it alone if nobody has it. Does not wait.
  [[nodiscard]] bool try_lock() noexcept {
    std::uint64_t seen = 0;
    if (change(seen, detail::shared_flag::writer, std::memory_order_acquire))
      return signed_if(true);
    detail::end_if_left_behind();
    return false;
  }
  // False: the time was over first. A time that is past only tries.
  [[nodiscard]] bool try_lock_until(detail::any_time_point t) noexcept {
    return try_lock() || signed_if(detail::shared_lock_until(state_, detail::to_ns(t)));
  }
  [[nodiscard]] bool try_lock_for(detail::any_duration d) noexcept {
    return try_lock() || signed_if(detail::shared_lock_until(state_, detail::deadline_after(d)));
  }
  // Waits until the context is cancelled at the latest. In that case, and if it was cancelled before,
  // the mutex is not locked, and it throws std::system_error with the context's err(); the twin puts
  // that into `error`.
  void lock(const context& ctx) {
    std::error_code error;
    if (!lock(ctx, error)) detail::throw_wait_ended("vole::shared_mutex::lock", error);
  }
  [[nodiscard]] bool lock(const context& ctx, std::error_code& error) noexcept {
    return detail::may_wait(ctx, error) &&
           (try_lock() || signed_if(detail::shared_lock_unless(state_, ctx, error)));
  }
  void unlock() noexcept {
    detail::race::release(&state_);
    std::uint64_t seen = detail::shared_flag::writer;
    if (!change(seen, 0, std::memory_order_release)) [[unlikely]]
      detail::shared_unlock_slow(state_);
    detail::end_if_left_behind();
  }

  void lock_shared() noexcept {
    if (!try_lock_shared()) [[unlikely]]
      detail::shared_lock_shared_slow(state_), reads_after_writers(true);
  }
  // Takes it beside other readers if no writer has it or waits for it. Does not wait.
  [[nodiscard]] bool try_lock_shared() noexcept {
    std::uint64_t seen = detail::unseen::load(state_.word, std::memory_order_relaxed);
    while ((seen & blocks_readers) == 0)
      if (change(seen, seen + detail::wait_flag::one, std::memory_order_acquire))
        return reads_after_writers(true);
    detail::end_if_left_behind();
    return false;
  }
  // The same, but waits until then, or for so long.
  [[nodiscard]] bool try_lock_shared_until(detail::any_time_point t) noexcept {
    return try_lock_shared() ||
           reads_after_writers(detail::shared_lock_shared_until(state_, detail::to_ns(t)));
  }
  [[nodiscard]] bool try_lock_shared_for(detail::any_duration d) noexcept {
    return try_lock_shared() ||
           reads_after_writers(detail::shared_lock_shared_until(state_, detail::deadline_after(d)));
  }
  void lock_shared(const context& ctx) {
    std::error_code error;
    if (!lock_shared(ctx, error))
      detail::throw_wait_ended("vole::shared_mutex::lock_shared", error);
  }
  [[nodiscard]] bool lock_shared(const context& ctx, std::error_code& error) noexcept {
    return detail::may_wait(ctx, error) &&
           (try_lock_shared() ||
            reads_after_writers(detail::shared_lock_shared_unless(state_, ctx, error)));
  }
  // Gives back what lock_shared took.
  void unlock_shared() noexcept {
    detail::race::release(&state_.readers);
    std::uint64_t seen = detail::unseen::load(state_.word, std::memory_order_relaxed);
    // With somebody waiting, or nobody inside, the slow path decides.
    while ((seen & detail::wait_flag::waiting) == 0 && seen >= detail::wait_flag::one)
      if (change(seen, seen - detail::wait_flag::one, std::memory_order_release))
        return detail::end_if_left_behind();
    detail::shared_unlock_shared_slow(state_);
  }

 private:
  static constexpr std::uint64_t blocks_readers =
      detail::shared_flag::writer | detail::wait_flag::waiting;

  // It is ours alone: dumps see whose.
  // A writer comes after readers and writers, a reader after writers only.
  [[gnu::always_inline]] void sign() noexcept {
    detail::race::acquire(&state_);
    detail::race::acquire(&state_.readers);
    detail::put_stack_place(state_.locker);
  }
  bool reads_after_writers(bool in) noexcept { return detail::race::acquired_if(in, &state_); }
  [[gnu::always_inline]] bool signed_if(bool ours) noexcept {
    if (ours) sign();
    return ours;
  }

  bool change(std::uint64_t& seen, std::uint64_t to, std::memory_order order) noexcept {
    return detail::unseen::compare_exchange_strong(state_.word, seen, to, order,
                                                   std::memory_order_relaxed);
  }

  detail::shared_waitable state_;
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
