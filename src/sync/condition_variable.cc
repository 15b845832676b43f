// condition_variable: a queue of waiters, in the order in which they came.
//
// Who    any goroutine, any plain thread.
// Law    a waiter is in the queue before it gives up the mutex: a thread that changes the
//        condition under that mutex finds it. A goroutine's commit unlocks both, the
//        condition first; the mutex lives on, since nobody has it until then and the
//        waiter needs it to return.
//        A notify wakes a waiter that it has claimed (gmp/waiter.h), never one whose
//        time is over.
// Note   a waiter whose time is over stays in the queue until its clock has taken it off, also
//        when a notify has passed it over. So the destructor knows that somebody is still
//        to touch the object, and waits: after notify_all() the object may be destroyed.
// Note   the first in the queue is the oldest. Go numbers waiters with tickets instead,
//        because there one unlocks the mutex before it queues; a ticket could not be
//        given back when a stop request ends the wait.
// Note   a stop callback runs in the middle of request_stop(), whose caller, on a
//        goroutine, must not change threads there: std::stop_callback's destructor goes
//        by the thread's id, and blocks the thread until the callback has returned. So
//        the callback is a guest wherever it runs: it neither parks nor yields.
// Proof  tests/model/condition_model.cc, condition_timed_model.cc; tests/stress/sync_stress_test.cc,
//        sync_timed_stress_test.cc

#include "os/os.h"
#include "sync/condition.h"
#include "sync/misuse.h"
#include "sync/mutex.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

// waiter::unlink of a goroutine that was abandoned on its way into wait().
void unlock_for_abandoned(void* mutex, waiter* abandoned) noexcept {
  abandoned->object = nullptr;
  mutex_unlock_inside(*static_cast<waitable*>(mutex), nullptr);
}

}  // namespace

// Locked. The waiter's slot: the mutex.
void condition_queue_locked(waitable& s, waiter* w, waitable& mutex) noexcept {
  if (s.waiters.first != nullptr && s.waiters.first->slot != &mutex)
    misused("condition_variable", "waited on with two mutexes at the same time", &s,
            "All its waiters must hold the same mutex");
  w->slot = &mutex;
  if (w->g != nullptr) w->g->wait.slot = &mutex;  // for the commit
  rt::wait_queue::push_back(s.waiters, w);
  s.word.fetch_or(kWaiting, relaxed);
}

// The slot is read first, as the waiter may be woken as soon as the condition is unlocked.
bool condition_unlock_both(rt::G* g, void* condition) noexcept {
  const base::race::unseen here;  // on somebody else's stack
  auto& mutex = *static_cast<waitable*>(g->wait.slot);
  unlock(*static_cast<waitable*>(condition));
  mutex_unlock_inside(mutex, rt::this_m());
  return true;
}

M* condition_enter(M* me, waitable& held_mutex) noexcept {
  if (me == nullptr) return rt::enter_as(me);  // a plain thread is not abandoned
  waiter& mine = me->curg->wait;
  mine.unlink = &unlock_for_abandoned;
  mine.object = &held_mutex;
  M* const m = rt::enter();
  mine.object = nullptr;
  return m;
}

namespace {

bool notify_inside(waitable& s, std::uintptr_t all, M* m) noexcept {
  wake_list go;
  lock(s);
  for (waiter *w = s.waiters.first, *next; w != nullptr; w = next) {
    next = w->next;
    if (!rt::claim(w)) continue;
    rt::wait_queue::remove(s.waiters, w);
    go.add(w);
    if (all == 0) break;
  }
  unlock(s, [any = s.waiters.first != nullptr](std::uint64_t word) {
    return with_waiting(word, any);
  });
  go.wake_all(m, 0);
  return true;
}

bool anybody_expired(waitable& s, std::uintptr_t, M*) noexcept {
  lock(s);
  const waiter* w = s.waiters.first;
  while (w != nullptr && !has_expired(w)) w = w->next;
  unlock(s);
  return w != nullptr;
}

}  // namespace

void condition_wait(waitable& s, waitable& held_mutex, condition_stop* stop) noexcept {
  wait_for(notice(held_mutex, stop), s);
}

bool condition_wait_until(waitable& s, waitable& held_mutex, std::int64_t when) noexcept {
  if (when == rt::kNoTimer) {
    condition_wait(s, held_mutex, nullptr);
    return true;
  }
  if (when <= os::now_ns()) {
    mutex_unlock_slow(held_mutex);
    return false;
  }
  return wait_until(notice(held_mutex, nullptr), s, when) != rt::kTimedOut;
}

void condition_stopped(condition_stop& stop) noexcept {
  waitable& s = stop.condition;
  rt::guest_enter_anywhere();
  lock(s);
  stop.requested = true;
  waiter* const w = stop.waiter;
  const bool waits = w != nullptr && stop.winner.exchange(1, relaxed) == 0;
  if (waits) rt::wait_queue::remove(s.waiters, w);
  unlock(s, [any = s.waiters.first != nullptr](std::uint64_t word) {
    return with_waiting(word, any);
  });
  if (waits) rt::wake(nullptr, w);
  rt::guest_leave();
}

void condition_notify(waitable& s, bool all) noexcept { inside<&notify_inside>(s, all ? 1 : 0); }

void condition_destroyed(waitable& s) noexcept {
  while (inside<&anybody_expired>(s)) rt::on_goroutine() ? rt::yield_now() : os::yield_thread();
  destroyed_while_used(s, "condition_variable");
}

void condition_without_lock() noexcept {
  misused("condition_variable", "wait() with a std::unique_lock that does not hold its mutex", nullptr,
          "Lock it first: wait() unlocks it while it waits, and locks it again");
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
