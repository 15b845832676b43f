// Waiting for an object of this room: a goroutine parks, a plain thread sleeps, for ever or until a
// time. The waits that a context may end are in sync/bounded.h.
//
//     goroutine: enter                          plain thread: guest_enter
//     lock the object
//     what is waited for is there: take it, unlock, leave
//     queue
//     park; the commit unlocks                  unlock, guest_leave, sleep
//
// Who    the objects of this room; on any goroutine or plain thread.
// Law    this file and bounded.h alone ask whether a wait is a goroutine's. (mutex_bounded.cc asks, too:
//        a goroutine that is woken there may have to compete before it leaves the runtime.)
// Law    on a goroutine wait_for() ends with park: no frame of it is returned through. So what it waits
//        for is passed by value.
// Law    every waker of an object that is waited for until a time claims the waiters it takes off
//        (gmp/waiter.h): the clock may have been first.
// Proof  tests/model/mutex_model.cc, condition_model.cc, condition_timed_model.cc;
//        tests/stress/sync_stress_test.cc, sync_timed_stress_test.cc
#pragma once

#include "os/os.h"
#include "sync/waitable.h"

namespace vole {
inline namespace v0 {
namespace detail {

// What is waited for: each object has one that derives from this. Each has `why`, and
//   bool take_locked(Object&)           true: it is ours. False: queue, and `waiting` is set
struct awaited {
  static constexpr std::uintptr_t at_once = 0;  // what a wait is told that took it
  static constexpr auto unlink = &unlink_waiter;
  static constexpr rt::commit_fn commit = &unlock_after_switch;
  static constexpr auto given_up = &with_waiting;  // the word of who does not queue after all

  M* enter() const noexcept { return rt::enter(); }
  template <class Object, class Change>
  void unlock(Object& s, M*, Change change) const noexcept {  // m is null: a plain thread's
    detail::unlock(s, change);
  }
  void queue_locked(waitable& s, waiter* w) const noexcept {
    rt::wait_queue::push_back(s.waiters, w);
  }
  bool anybody_waits(const waitable& s) const noexcept { return s.waiters.first != nullptr; }
};

inline constexpr auto as_it_is = [](std::uint64_t word) noexcept { return word; };

// A plain thread's wait; kNoTimer: for ever. What it was told, or kTimedOut.
template <class What, class Object>
[[gnu::noinline]] std::uintptr_t wait_on_thread(What what, Object& s, std::int64_t when) noexcept {
  guest_waiter guest(&s, What::unlink);
  if (when != rt::kNoTimer) guest.self.winner = &guest.winner;
  rt::guest_enter();
  lock(s);
  const bool taken = what.take_locked(s);
  if (!taken) what.queue_locked(s, &guest.self);
  what.unlock(s, nullptr, as_it_is);
  rt::guest_leave();
  if (taken) return what.at_once;
  if (when == rt::kNoTimer) return guest.sleep();
  return rt::guest_sleep_until(guest.self, &s, guest.winner, when);
}

// On a goroutine. Null: taken, and we are outside again. Else we are inside, queued, and the lock is
// held.
template <class What, class Object>
inline waiter* take_or_queue(What& what, Object& s) noexcept {
  M* const m = what.enter();
  lock(s);
  if (what.take_locked(s)) {
    what.unlock(s, m, as_it_is);
    rt::leave(m);
    return nullptr;
  }
  waiter* const w = rt::self(m, &s, What::unlink);
  what.queue_locked(s, w);
  return w;
}

// For ever. What it was told.
template <class What, class Object>
inline std::uintptr_t wait_for(What what, Object& s) noexcept {
  if (!rt::on_goroutine()) return wait_on_thread(what, s, rt::kNoTimer);
  if (take_or_queue(what, s) == nullptr) return what.at_once;
  return rt::park(What::commit, &s, What::why);
}

// The same until then, which is not kNoTimer. kTimedOut: the time came first.
template <class What, class Object>
std::uintptr_t wait_until(What what, Object& s, std::int64_t when) noexcept {
  if (!rt::on_goroutine()) return wait_on_thread(what, s, when);
  waiter* const w = take_or_queue(what, s);
  if (w == nullptr) return what.at_once;
  rt::timeout clock;
  rt::arm(clock, w, when);
  const std::uintptr_t told = rt::park(What::commit, &s, What::why);
  return in_time(clock, told) ? told : rt::kTimedOut;
}

// A call with a deadline, which may have passed, or be kNoTimer. False: the time came first.
template <class What, class Object>
bool came_in_time(What what, Object& s, std::int64_t when) noexcept {
  if (when == rt::kNoTimer) {
    wait_for(what, s);
    return true;
  }
  return when > os::now_ns() && wait_until(what, s, when) != rt::kTimedOut;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
