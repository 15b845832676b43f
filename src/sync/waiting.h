// Waiting for an object of this room: a goroutine parks, a plain thread sleeps, for ever or until a
// time. The waits that a context may end are in sync/bounded.h.
//
//     enter (sched/wait/place.h)
//     lock the object
//     what is waited for is there: take it, unlock, leave
//     queue
//     park, and the commit unlocks; or unlock, leave, sleep
//
// Who    the objects of this room; on any goroutine or plain thread.
// Law    on a goroutine wait_for() ends with park: no frame of it is returned through. So what it waits
//        for is passed by value.
// Law    every waker of an object that is waited for until a time claims the waiters it takes off
//        (gmp/waiter.h): the clock may have been first.
// Proof  tests/model/mutex_model.cc, condition_model.cc, condition_timed_model.cc;
//        tests/stress/sync_stress_test.cc, sync_timed_stress_test.cc
#pragma once

#include "os/os.h"
#include "sched/wait/place.h"
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

  M* enter(M* me) const noexcept { return rt::enter_as(me); }
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

// How who waits for it lets go of the object (sched/wait/place.h).
template <class What, class Object>
struct letting_go {
  const What& what;
  Object& s;
  std::uintptr_t park(rt::wait_reason why) const noexcept { return rt::park(What::commit, &s, why); }
  bool on_thread() const noexcept {
    what.unlock(s, nullptr, as_it_is);
    return true;
  }
};
template <class What, class Object>
letting_go(const What&, Object&) -> letting_go<What, Object>;

// Inside. True: taken, and we are outside again. False: we hold the lock.
template <class What, class Object>
inline bool take_inside(What& what, Object& s, M* m) noexcept {
  lock(s);
  if (!what.take_locked(s)) return false;
  what.unlock(s, m, as_it_is);
  rt::leave_either(m);
  return true;
}

// On any thread, until then; kNoTimer: for ever. What it was told; kTimedOut: the time came first.
template <class What, class Object>
[[gnu::noinline]] std::uintptr_t wait_until(What what, Object& s, std::int64_t when) noexcept {
  rt::place mine;
  M* const m = what.enter(rt::this_m());
  if (take_inside(what, s, m)) return what.at_once;
  waiter* const w = mine.self(m, &s, What::unlink);
  rt::deadline clock;
  if (when != rt::kNoTimer) rt::arm(clock, m, w, when);
  what.queue_locked(s, w);
  return mine.sleep_in_time(m, letting_go{what, s}, What::why, clock);
}

// For ever. What it was told.
template <class What, class Object>
inline std::uintptr_t wait_for(What what, Object& s) noexcept {
  M* const me = rt::this_m();
  if (me == nullptr) [[unlikely]] return wait_until(what, s, rt::kNoTimer);
  M* const m = what.enter(me);
  if (take_inside(what, s, m)) return what.at_once;
  what.queue_locked(s, rt::self(m, &s, What::unlink));
  return rt::park(What::commit, &s, What::why);
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
