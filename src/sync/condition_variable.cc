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

// Locked. False: a stop was requested already, there is nothing to wait for.
bool queue_locked(waitable& s, waiter* w, condition_stop* stop) noexcept {
  if (stop != nullptr) {
    if (stop->requested) return false;
    stop->waiter = w;
  }
  rt::wait_queue::push_back(s.waiters, w);
  s.word.fetch_or(kWaiting, relaxed);
  return true;
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
  const bool wait = queue_locked(s, &guest.self, stop);
  unlock(s);
  mutex_unlock_inside(mutex, nullptr);
  rt::guest_leave();
  if (wait) guest.sleep();
}

}  // namespace

void condition_wait(waitable& s, waitable& held_mutex, condition_stop* stop) noexcept {
  if (!rt::on_goroutine()) return wait_as_guest(s, held_mutex, stop);
  M* const m = rt::enter();
  lock(s);
  waiter* const w = &m->curg->wait;
  if (!queue_locked(s, w, stop)) {
    unlock(s);
    mutex_unlock_inside(held_mutex, m);
    return rt::leave(m);
  }
  rt::self(m, &s, &unlink_waiter)->slot = &held_mutex;
  rt::park(&unlock_both, &s, rt::wait_reason::condition_variable);
}

void condition_stopped(condition_stop& stop) noexcept {
  waitable& s = stop.condition;
  rt::guest_enter_anywhere();
  lock(s);
  stop.requested = true;
  waiter* const w = stop.waiter;
  const bool waits = w != nullptr && w->object == &s;
  if (waits) rt::wait_queue::remove(s.waiters, w);
  unlock(s, [any = s.waiters.first != nullptr](std::uint64_t word) {
    return with_waiting(word, any);
  });
  if (waits) rt::wake(nullptr, w);
  rt::guest_leave();
}

void condition_notify(waitable& s, bool all) noexcept {
  inside([&s, all](M* m) noexcept {
    wake_list go;
    lock(s);
    do {
      waiter* const w = rt::wait_queue::pop_front(s.waiters);
      if (w == nullptr) break;
      go.add(w);
    } while (all);
    unlock(s, [any = s.waiters.first != nullptr](std::uint64_t word) {
      return with_waiting(word, any);
    });
    go.wake_all(m, 0);
  });
}

void condition_without_lock() noexcept {
  fatal("condition_variable: wait() with a std::unique_lock that does not hold its mutex");
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
