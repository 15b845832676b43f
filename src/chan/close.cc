// Close takes all waiters off the queues in one lock section and wakes them after it. By then it does
// not touch the channel any more: a waiter that was woken may destroy it.

#include "chan/core.h"
#include "sched/wait/place.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

// Moves a queue behind the waiters in `all`. If nobody else can serve them it is linked there as it
// is: a look at each waiter would cost a cache line each.
void move_all(chan_core& c, chan_waiters& from, chan_waiters& all) noexcept {
  if (from.first != nullptr && !from.contested) {
    from.first->prev = all.last;
    (all.last != nullptr ? all.last->next : all.first) = from.first;
    all.last = from.last;
    from = {};
    return;
  }
  while (waiter* const w = pop_claimed(c, from)) rt::wait_queue::push_back(all, w);
}

// Takes all waiters off both queues, except selects that another channel has served.
chan_waiters drain_locked(chan_core& c) noexcept {
  chan_waiters all;
  move_all(c, c.receivers, all);
  move_all(c, c.senders, all);
  return all;
}

}  // namespace

// Inside from the one to the other: the runtime cannot end while they are in no queue.
bool chan_close_inside(chan_core& c, M* m) noexcept {
  c.lock.acquire(rt::presence_if_any(m));
  if (c.closed) {
    c.lock.release();
    return false;
  }
  c.closed = true;
  c.order.closes();
  chan_waiters all = drain_locked(c);
  c.lock.release();
  rt::waking batch(m);
  while (waiter* const w = rt::wait_queue::pop_front(all)) {
    rt::prefetch(all.first);
    batch.add(w, told(w, false));
  }
  return true;
}

bool chan_close(chan_core* c) noexcept {
  c->order.is_closed_by_user();
  return rt::inside([c](M* m) { return chan_close_inside(*c, m); });
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
