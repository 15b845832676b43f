// The memory of everything in vole/sync.h that can be waited for. Not for users.
//
// One word and a list of waiters. The word's upper half is the object's count, its lower
// half flags: three that all objects share, and the object's own from 8 on. The rules are in
// src/sync/waitable.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <system_error>

#include <vole/detail/race.h>

#include <vole/detail/mutex_sampling.h>
#include <vole/detail/stack_place.h>

namespace vole::rt {
struct waiter;
}

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

class context;

namespace detail {

// False: it is cancelled; why is in `error`, which is cleared otherwise.
bool may_wait(const context& ctx, std::error_code& error) noexcept;
// The exception of a wait that a context ended.
[[noreturn]] void throw_wait_ended(const char* what, const std::error_code& error);

namespace wait_flag {
inline constexpr std::uint64_t locked = 1;    // somebody is at the list
inline constexpr std::uint64_t sleepers = 2;  // threads may sleep until `locked` is clear
inline constexpr std::uint64_t waiting = 4;   // the list is not empty
inline constexpr std::uint64_t anybody = locked | sleepers | waiting;
inline constexpr std::uint64_t first_own = 8;
inline constexpr std::uint64_t biased = std::uint64_t{1} << 31;  // a mutex's
inline constexpr std::uint64_t all = 0xffffffffu;
inline constexpr int count_shift = 32;
inline constexpr std::uint64_t one = std::uint64_t{1} << count_shift;
}  // namespace wait_flag

// The waiters of an object, in order. Guarded by the object's lock.
struct wait_list {
  rt::waiter* first = nullptr;
  rt::waiter* last = nullptr;
};

struct waitable {
  std::atomic<std::uint64_t> word{0};
  wait_list waiters;
};

// A waitable that is locked. `locker` is an address on the stack of the party that locked it last: by
// it a dump knows the holder. The holder writes it, and dumps read it without the lock.
struct lockable : waitable {
  std::uintptr_t locker = 0;
};

// Fatal if anybody waits, unless it is a static object, which exit() destroys.
void destroyed_while_used(const waitable& s, const char* what) noexcept;
inline void destroying(const waitable& s, const char* what) noexcept {
  if (unseen::load(s.word, std::memory_order_relaxed) != 0) [[unlikely]]
    destroyed_while_used(s, what);
}

// ── wait_group ── count: what is not done yet.
void wait_group_add_slow(waitable& s, std::uint64_t old, std::int32_t n) noexcept;
void wait_group_wait_slow(waitable& s) noexcept;
// False: the context was cancelled first; why is in `error`.
bool wait_group_wait_unless(waitable& s, const context& ctx, std::error_code& error) noexcept;
[[noreturn]] void wait_group_destroyed() noexcept;

// ── latch ── count: what is not counted down yet.
void latch_count_down_slow(waitable& s, std::uint64_t old, std::int64_t n) noexcept;
void latch_wait_slow(waitable& s) noexcept;
bool latch_wait_unless(waitable& s, const context& ctx, std::error_code& error) noexcept;
[[noreturn]] void latch_expected() noexcept;

// ── barrier ── count: the arrivals that are missing in this phase.
namespace barrier_flag {
inline constexpr std::uint64_t phase = wait_flag::first_own;  // turns with each
}
struct barrier_waitable : waitable {
  explicit constexpr barrier_waitable(std::int32_t n) noexcept
      : waitable{static_cast<std::uint64_t>(n) << wait_flag::count_shift, {}}, expected(n) {}
  std::atomic<std::int32_t> expected;  // in the next phase
};
void barrier_complete(barrier_waitable& s) noexcept;  // everybody has arrived
void barrier_wait_slow(waitable& s, std::uint64_t phase) noexcept;
bool barrier_wait_unless(waitable& s, std::uint64_t phase, const context& ctx,
                         std::error_code& error) noexcept;
[[noreturn]] void barrier_expected() noexcept;
[[noreturn]] void barrier_overrun() noexcept;

// ── mutex ── count: how often it was locked, modulo 2^32.
namespace mutex_flag {
inline constexpr std::uint64_t held = wait_flag::first_own;
inline constexpr std::uint64_t woken = held << 1;           // a woken waiter is about to compete
inline constexpr std::uint64_t starving = held << 2;        // hand over; newcomers queue
inline constexpr std::uint64_t biased = wait_flag::biased;  // one processor locks it without asking

// Held, and to be unlocked without a look at the list.
inline constexpr bool wakes_nobody(std::uint64_t word) noexcept {
  return (word & (held | starving | biased)) == held &&
         (word & (wait_flag::waiting | woken)) != wait_flag::waiting;
}
}  // namespace mutex_flag

struct mutex_waitable : lockable {
  // Which P owns it, or took it last: the twin of base::bias_state (src/base/bias.h).
  struct {
    std::atomic<std::uintptr_t> biased_to{0};
    std::uint32_t count = 0;
    std::uint8_t doublings = 0;
  } whose;
  std::atomic<std::uint32_t> bias_guard{0};  // a lock: the bias is being given or revoked
};

// The state of one call of lock() between its attempts.
struct mutex_attempt {
  std::int64_t since = 0;  // when it first queued
  bool queued = false;
  bool was_held = false;  // when we came
};

// Not 0: it is ours. 0: we waited and were woken; call again. (Not a bool: what a parked goroutine
// is told goes straight to the caller.)
std::uintptr_t mutex_lock_slow(waitable& s, mutex_attempt& mine) noexcept;
// It was not free. `when`: ns of the steady clock; false: it came first, or the context was
// cancelled.
bool mutex_lock_until(waitable& s, std::int64_t when) noexcept;
bool mutex_lock_unless(waitable& s, const context& ctx, std::error_code& error) noexcept;
void mutex_unlock_slow(waitable& s) noexcept;
void mutex_others_wait() noexcept;  // unlocked, and somebody is about to compete
// For a word that says `biased`. mutex_lock_mine locks it, waiting if it must. mutex_lock_biased
// returns false if it is not ours, or is held: then the caller takes the usual way.
void mutex_lock_mine(mutex_waitable& s) noexcept;
bool mutex_lock_biased(mutex_waitable& s) noexcept;
void mutex_unlock_biased(mutex_waitable& s) noexcept;
void mutex_disown(mutex_waitable& s) noexcept;  // takes the flag away
// Now and then the party that locks is counted (mutex_sample). The interval is uneven: with an even
// one, two Ps that take turns would hide each other.
inline constexpr bool mutex_is_sampled(std::uint64_t word) noexcept {
  const std::uint64_t n = word >> wait_flag::count_shift;
  return ((n ^ n / mutex_sampling) % mutex_sampling) == 0;
}
void mutex_sample(mutex_waitable& s) noexcept;

// ── shared_mutex ── count: the readers inside. `waiters` are the writers.
namespace shared_flag {
inline constexpr std::uint64_t writer = wait_flag::first_own;  // one is inside
}
struct shared_waitable : lockable {
  wait_list readers;
};
void shared_lock_slow(shared_waitable& s) noexcept;
void shared_unlock_slow(shared_waitable& s) noexcept;
void shared_lock_shared_slow(shared_waitable& s) noexcept;
void shared_unlock_shared_slow(shared_waitable& s) noexcept;
// As for a mutex.
bool shared_lock_until(shared_waitable& s, std::int64_t when) noexcept;
bool shared_lock_shared_until(shared_waitable& s, std::int64_t when) noexcept;
bool shared_lock_unless(shared_waitable& s, const context& ctx, std::error_code& error) noexcept;
bool shared_lock_shared_unless(shared_waitable& s, const context& ctx,
                               std::error_code& error) noexcept;

// ── condition_variable ──
// Shared by a stop callback and the wait it may end; guarded by the condition variable's lock.
struct condition_stop {
  waitable& condition;
  rt::waiter* waiter = nullptr;
  std::atomic<std::uint32_t> winner{0};  // 1: the waiter is off the queue; it may be anywhere
  bool requested = false;
};
// These unlock the mutex while waiting and do not lock it again. `when`: ns of the steady clock;
// false: it came first.
void condition_wait(waitable& s, waitable& held_mutex, condition_stop* stop) noexcept;
bool condition_wait_until(waitable& s, waitable& held_mutex, std::int64_t when) noexcept;
// False: the context was cancelled first; why is in `error`.
bool condition_wait_unless(waitable& s, waitable& held_mutex, const context& ctx,
                           std::error_code& error) noexcept;
void condition_stopped(condition_stop& stop) noexcept;
void condition_notify(waitable& s, bool all) noexcept;
void condition_destroyed(waitable& s) noexcept;
[[noreturn]] void condition_without_lock() noexcept;

// ── semaphore ── count: what is free.
void semaphore_acquire_slow(waitable& s, std::int32_t n) noexcept;
// `when`: ns of the steady clock. False: it came first.
bool semaphore_acquire_until(waitable& s, std::int32_t n, std::int64_t when) noexcept;
// False: the context was cancelled first; why is in `error`.
bool semaphore_acquire_unless(waitable& s, std::int32_t n, const context& ctx,
                              std::error_code& error) noexcept;
void semaphore_release_slow(waitable& s, std::int32_t n) noexcept;
[[noreturn]] void semaphore_negative() noexcept;

// ── once ── count: done or not.
namespace once_flag {
inline constexpr std::uint64_t running = wait_flag::first_own;
inline constexpr std::uint64_t done = wait_flag::one;
}  // namespace once_flag
std::uintptr_t once_begin(waitable& s) noexcept;  // not 0: it is ours to do, then once_end
void once_end(waitable& s, bool done) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
