// condition_variable: the parts that all of its waits share.
//
// Who    condition_variable.cc, condition_bounded.cc.
#pragma once

#include "sync/mutex.h"
#include "sync/waiting.h"

namespace vole {
inline namespace v0 {
namespace detail {

// Into the runtime, to wait. If the goroutine is abandoned on its way in, the mutex is unlocked.
M* condition_enter(M* me, waitable& held_mutex) noexcept;
// Under the condition's lock. The waiter's slot: the mutex.
void condition_queue_locked(waitable& s, waiter* w, waitable& mutex) noexcept;
// The commit: arg is the condition, the slot of the goroutine's own waiter the mutex.
bool condition_unlock_both(rt::G* g, void* condition) noexcept;

// Locked. From here on there is a contest for w: the stop callback's, under this lock.
inline void watch_stop_locked(condition_stop* stop, waiter* w) noexcept {
  if (stop == nullptr) return;
  stop->waiter = w;
  stop->winner.store(0, relaxed);
  w->winner = &stop->winner;
}

struct notice : awaited {
  notice(waitable& held, condition_stop* asked) noexcept : mutex(&held), stop(asked) {}
  static constexpr rt::commit_fn commit = &condition_unlock_both;
  static constexpr auto why = rt::wait_reason::condition_variable;
  M* enter(M* me) const noexcept { return condition_enter(me, *mutex); }
  bool take_locked(waitable&) const noexcept { return stop != nullptr && stop->requested; }
  void queue_locked(waitable& s, waiter* w) const noexcept {
    watch_stop_locked(stop, w);
    condition_queue_locked(s, w, *mutex);
  }
  template <class Change>
  void unlock(waitable& s, M* m, Change change) const noexcept {
    detail::unlock(s, change);
    mutex_unlock_inside(*mutex, m);
  }
  waitable* mutex;
  condition_stop* stop;
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
