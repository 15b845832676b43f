// mutex: std::mutex for goroutines and plain threads alike.
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

// Go's sync.Mutex. TimedLockable: std::lock_guard, std::unique_lock and std::scoped_lock
// work.
// Another goroutine than the one that locked may unlock. Normally a woken waiter has to compete with
// newcomers; a waiter that has waited for more than 1 ms gets the mutex handed over, and meanwhile
// newcomers queue and try_lock() fails.
// unlock() of an unlocked mutex is fatal. Locking one twice on the same goroutine waits for ever;
// if nobody else is left to unlock it, that is a deadlock and reported as one.
// A goroutine that is abandoned when the runtime ends keeps what it has locked.
// Its destruction while somebody waits is fatal, unless it is static and exit() destroys it.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  ~mutex() { detail::destroying(state_, "mutex"); }
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  // Waits until it is free, and takes it.
  void lock() noexcept {
    // Looks first: while somebody waits for its turn to compete, the word of a free mutex is not 0.
    std::uint64_t seen = detail::unseen::load(state_.word, std::memory_order_relaxed);
    if ((seen & flag::biased) != 0) {
      detail::mutex_lock_mine(state_);
      return locked_after_others();
    }
    if (take(seen)) return sign();
    // A goroutine that waits here comes straight back into this loop: no frame in between.
    detail::mutex_attempt mine;
    mine.was_held = (seen & flag::held) != 0;
    while (detail::mutex_lock_slow(state_, mine) == 0) {
    }
    sign();
  }

  [[nodiscard]] bool try_lock() noexcept {
    std::uint64_t seen = detail::unseen::load(state_.word, std::memory_order_relaxed);
    while ((seen & (flag::held | flag::starving)) == 0) {
      if ((seen & flag::biased) != 0) {
        if (detail::mutex_lock_biased(state_)) return detail::race::acquired_if(true, &state_);
        detail::mutex_disown(state_);
        seen = detail::unseen::load(state_.word, std::memory_order_relaxed);
      } else if (take(seen)) {
        return signed_if(true);
      }
    }
    detail::end_if_left_behind();
    return false;
  }

  // False: the time was over first. A time that is past only tries.
  [[nodiscard]] bool try_lock_until(detail::any_time_point t) noexcept {
    return try_lock() || signed_if(detail::mutex_lock_until(state_, detail::to_ns(t)));
  }
  [[nodiscard]] bool try_lock_for(detail::any_duration d) noexcept {
    return try_lock() || signed_if(detail::mutex_lock_until(state_, detail::deadline_after(d)));
  }
  // Waits until the context is cancelled at the latest. In that case, and if it was cancelled before,
  // the mutex is not locked, and it throws std::system_error with the context's err(); the twin puts
  // that into `error`. With std::lock_guard: m.lock(ctx); std::lock_guard hold(m, std::adopt_lock);
  void lock(const context& ctx) {
    std::error_code error;
    if (!lock(ctx, error)) detail::throw_wait_ended("vole::mutex::lock", error);
  }
  [[nodiscard]] bool lock(const context& ctx, std::error_code& error) noexcept {
    return detail::may_wait(ctx, error) &&
           (try_lock() || signed_if(detail::mutex_lock_unless(state_, ctx, error)));
  }

  void unlock() noexcept {
    detail::race::release(&state_);
    std::uint64_t seen = detail::unseen::load(state_.word, std::memory_order_relaxed);
    if ((seen & flag::biased) != 0) return detail::mutex_unlock_biased(state_);
    if (!detail::mutex_flag::wakes_nobody(seen) ||
        !detail::unseen::compare_exchange_strong(state_.word, seen, seen & ~flag::held,
                                                 std::memory_order_release,
                                                 std::memory_order_relaxed)) [[unlikely]]
      return detail::mutex_unlock_slow(state_);
    if ((seen & detail::wait_flag::all) != flag::held) [[unlikely]]
      detail::mutex_others_wait();
  }

 private:
  struct flag {
    static constexpr std::uint64_t held = detail::mutex_flag::held;
    static constexpr std::uint64_t starving = detail::mutex_flag::starving;
    static constexpr std::uint64_t biased = detail::mutex_flag::biased;
  };
  friend class condition_variable;

  // It is ours: dumps see whose.
  [[gnu::always_inline]] void sign() noexcept {
    locked_after_others();
    detail::put_stack_place(state_.locker);
  }
  void locked_after_others() noexcept { detail::race::acquire(&state_); }
  [[gnu::always_inline]] bool signed_if(bool ours) noexcept {
    if (ours) sign();
    return ours;
  }

  // Nobody's own, if it was free. False: not ours, and `seen` is what the word was.
  bool take(std::uint64_t& seen) noexcept {
    if ((seen & (flag::held | flag::starving | flag::biased)) != 0 ||
        !detail::unseen::compare_exchange_strong(
            state_.word, seen, seen + (flag::held | detail::wait_flag::one),
            std::memory_order_acquire, std::memory_order_relaxed)) [[unlikely]]
      return false;
    if (detail::mutex_is_sampled(seen)) [[unlikely]]
      detail::mutex_sample(state_);
    return true;
  }

  detail::mutex_waitable state_;
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
