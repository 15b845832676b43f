// Close: everybody off the queues in one lock section, woken after it. The channel is not touched
// again then: who is woken may destroy it.

#include "chan/core.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

// Off the queue and behind those in `all`. Where nobody else may serve them, as they are: a look at
// each would be a cache line of each.
void move_all(chan_waiters& from, chan_waiters& all) noexcept {
  if (from.first != nullptr && !from.contested) {
    from.first->prev = all.last;
    (all.last != nullptr ? all.last->next : all.first) = from.first;
    all.last = from.last;
    from = {};
    return;
  }
  while (waiter* const w = rt::wait_queue::pop_claimed(from)) rt::wait_queue::push_back(all, w);
}

// Everybody who waits, off both queues. The losers of selects are passed over.
chan_waiters drain_locked(chan_core& c) noexcept {
  chan_waiters all;
  move_all(c.receivers, all);
  move_all(c.senders, all);
  return all;
}

// False: it is closed already. Otherwise nobody waits on it any more: all are in `all`.
bool shut(chan_core& c, chan_waiters& all) noexcept {
  c.lock.acquire();
  const bool was_open = !c.closed;
  c.closed = true;
  if (was_open) all = drain_locked(c);
  c.lock.release();
  return was_open;
}

void wake_some(M* m, chan_waiters& all, std::size_t most) noexcept {
  for (; most > 0; --most) {
    waiter* const w = rt::wait_queue::pop_front(all);
    if (w == nullptr) return;
    rt::foresee(all.first);
    rt::wake(m, w, told(w, false));
  }
}

// Who wakes more than this lets them run before it goes on: a million that are woken and have not
// run are out of the cache by then.
constexpr std::size_t kAtOnce = 32 * 1024;

}  // namespace

bool chan_close_inside(chan_core& c, M* m) noexcept {
  chan_waiters all;
  const bool closed = shut(c, all);
  wake_some(m, all, ~std::size_t{0});
  return closed;
}

bool chan_close(chan_core* c) noexcept {
  if (!rt::on_goroutine()) {
    rt::guest_enter();
    const bool closed = chan_close_inside(*c, nullptr);
    rt::guest_leave();
    return closed;
  }
  M* m = rt::enter();
  chan_waiters all;
  const bool closed = shut(*c, all);
  for (wake_some(m, all, kAtOnce); all.first != nullptr; wake_some(m, all, kAtOnce)) {
    rt::leave(m);
    m = rt::enter();
  }
  rt::leave(m);
  return closed;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
