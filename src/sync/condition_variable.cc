// condition_variable: a queue of those who wait, in the order in which they came.
//
// Who    any goroutine, any plain thread.
// Law    a waiter is in the queue before it gives up the mutex: whoever changes what it
//        waits for, under that mutex, finds it. A goroutine's commit unlocks both, the
//        condition first; the mutex lives on, since nobody has it until then and the
//        waiter needs it to return.
// Note   the first in the queue is the oldest. Go numbers waiters with tickets instead,
//        because there one unlocks the mutex before it queues; a ticket could not be
//        given back when a stop request ends the wait.
// Note   a stop callback runs in the middle of request_stop(), whose caller, on a
//        goroutine, must not change threads there: std::stop_callback's destructor goes
//        by the thread's id, and blocks the thread until the callback has returned. So
//        the callback is a guest wherever it runs: it neither parks nor yields.
// Proof  tests/stress/sync_stress_test.cc

#include "sync/mutex.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

// Locked.
void queue_locked(waitable& s, waiter* w, condition_stop* stop) noexcept {
  w->winner = nullptr;
  if (stop != nullptr) {
    stop->waiter = w;
    stop->winner.store(0, relaxed);
    w->winner = &stop->winner;
  }
  rt::wait_queue::push_back(s.waiters, w);
  s.word.fetch_or(kWaiting, relaxed);
}

// Locked; w is off the queue. From here on the stop callback keeps its hands off.
void claim_locked(waiter* w) noexcept {
  if (w->winner != nullptr) w->winner->store(1, relaxed);
}

bool must_wait_locked(const condition_stop* stop) noexcept {
  return stop == nullptr || !stop->requested;
}

// The waiter's slot: the mutex. It is read first, as the waiter may be woken as soon as the
// condition is unlocked.
bool unlock_both(rt::G* g, void* condition) noexcept {
  auto& mutex = *static_cast<waitable*>(g->wait.slot);
  unlock(*static_cast<waitable*>(condition));
  mutex_unlock_inside(mutex, arch::this_m());
  return true;
}

[[gnu::noinline]] void wait_as_guest(waitable& s, waitable& mutex, condition_stop* stop) noexcept {
  guest_waiter guest(&s, &unlink_waiter);
  rt::guest_enter();
  lock(s);
  const bool wait = must_wait_locked(stop);
  if (wait) queue_locked(s, &guest.self, stop);
  unlock(s);
  mutex_unlock_inside(mutex, nullptr);
  rt::guest_leave();
  if (wait) guest.sleep();
}

bool notify_inside(waitable& s, std::uintptr_t all, M* m) noexcept {
  wake_list go;
  lock(s);
  do {
    waiter* const w = rt::wait_queue::pop_front(s.waiters);
    if (w == nullptr) break;
    claim_locked(w);
    go.add(w);
  } while (all != 0);
  unlock(s, [any = s.waiters.first != nullptr](std::uint64_t word) {
    return with_waiting(word, any);
  });
  go.wake_all(m, 0);
  return true;
}

// waiter::unlink of a goroutine that was abandoned on its way into wait().
void unlock_for_abandoned(void* mutex, waiter* abandoned) noexcept {
  abandoned->object = nullptr;
  mutex_unlock_inside(*static_cast<waitable*>(mutex), nullptr);
}

}  // namespace

void condition_wait(waitable& s, waitable& held_mutex, condition_stop* stop) noexcept {
  if (!rt::on_goroutine()) return wait_as_guest(s, held_mutex, stop);
  waiter& mine = rt::this_goroutine()->wait;
  mine.unlink = &unlock_for_abandoned;
  mine.object = &held_mutex;
  M* const m = rt::enter();
  mine.object = nullptr;
  lock(s);
  if (!must_wait_locked(stop)) {
    unlock(s);
    mutex_unlock_inside(held_mutex, m);
    return rt::leave(m);
  }
  waiter* const w = rt::self(m, &s, &unlink_waiter);
  w->slot = &held_mutex;
  queue_locked(s, w, stop);
  rt::park(&unlock_both, &s, rt::wait_reason::condition_variable);
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

void condition_without_lock() noexcept {
  fatal("condition_variable: wait() with a std::unique_lock that does not hold its mutex");
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
