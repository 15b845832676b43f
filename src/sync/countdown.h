// A count, and a list of waiters until it is zero: the common part of wait_group and latch.
//
// Who    wait_group.cc, latch.cc; any goroutine, any plain thread.
// Law    kWaiting is set by a waiter while the count is above zero, and cleared, together
//        with kLocked, by the call that brought it to zero: that is its last touch of
//        the object, and only then does it wake them. So a wait may return on a word
//        of 0 alone: with kWaiting still set somebody is about to touch the object.
//        The count changes without the lock, always.
// Law    a waiter that gives up clears kWaiting only while the count is above zero. At zero the
//        releaser that brought it there is on its way, relies on the flag, and clears it.
// Note   a waiter that finds count 0 and kWaiting queues as well: the releaser in
//        flight will wake it, too.
// Proof  tests/stress/wait_group_stress_test.cc, sync_context_stress_test.cc; the destruction
//        guarantee under ASan and TSan.
#pragma once

#include "sync/bounded.h"

namespace vole {
inline namespace v0 {
namespace detail {

inline std::int32_t left(std::uint64_t word) noexcept {
  return static_cast<std::int32_t>(count_of(word));
}

// Locked. True: there is something to wait for, and kWaiting is set.
inline bool must_wait(waitable& s, bool plainly = false) noexcept {
  std::uint64_t seen = s.word.load(acquire);
  do {
    if ((seen & kWaiting) != 0) return true;
    if (left(seen) == 0) return false;
  } while (!s.word.compare_exchange_strong(seen, seen | kWaiting, acq_rel, acquire));
  if (plainly) race::writes(&s.waiters);  // an add() that raises the count from 0 must not meet it
  return true;
}

template <rt::wait_reason Why>
struct zero : awaited {
  explicit zero(bool plain) noexcept : plainly(plain) {}
  static constexpr auto why = Why;
  bool take_locked(waitable& s) const noexcept { return !must_wait(s, plainly); }
  static std::uint64_t given_up(std::uint64_t word, bool any) noexcept {
    return any || left(word) == 0 ? word : word & ~kWaiting;
  }
  // The end of the runtime takes all waiters off, and then finishes the calls of goroutines that were
  // on their way in.
  static void unlink(void* object, waiter* w) noexcept {
    auto& s = *static_cast<waitable*>(object);
    lock(s);
    const bool gives_up = has_expired(w);
    if (w->object != nullptr) rt::wait_queue::remove(s.waiters, w);
    detail::unlock(s, [gives_up, any = s.waiters.first != nullptr](std::uint64_t word) {
      return gives_up ? given_up(word, any) : with_waiting(word, any);
    });
  }
  bool plainly;
};

// The count has reached zero and somebody waits. Takes all waiters off, except those that their
// context has claimed.
inline void release_all_inside(waitable& s, M* m) noexcept {
  wake_list go;
  while (waiter* const w = rt::wait_queue::pop_claimed(s.waiters)) go.add(w);
  unlock(s, [](std::uint64_t word) { return word & ~kWaiting; });
  go.wake_all(m, 0);
}

template <rt::wait_reason Why>
void wait_for_zero(waitable& s) noexcept {
  wait_for(zero<Why>(true), s);
}

template <rt::wait_reason Why>
bool wait_for_zero_unless(waitable& s, const context& ctx, std::error_code& error) noexcept {
  return with_context(
      ctx, error, [&] { wait_for_zero<Why>(s); },
      [&](rt::interrupter& by) {
        return wait_interruptibly(zero<Why>(false), s, by) != rt::kCanceled;
      });
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
