// Send, receive, close: each one enter, one lock, one step (chan/core.h).

#include "chan/core.h"
#include "os/os.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

using rt::wait_reason;

// The two directions of an operation, as the code below needs them.
struct sending {
  static step try_locked(chan_core& c, void* value, waiter** w) noexcept {
    return send_locked(c, value, w);
  }
  static chan_waiters& queue(chan_core& c) noexcept { return c.senders; }
  static constexpr auto unlink = &unlink_sender;
  static constexpr auto why = wait_reason::chan_send;
  static constexpr auto why_nil = wait_reason::chan_send_nil;
};
struct receiving {
  static step try_locked(chan_core& c, void* room, waiter** w) noexcept {
    return recv_locked(c, room, w);
  }
  static chan_waiters& queue(chan_core& c) noexcept { return c.receivers; }
  static constexpr auto unlink = &unlink_receiver;
  static constexpr auto why = wait_reason::chan_recv;
  static constexpr auto why_nil = wait_reason::chan_recv_nil;
};

bool never(rt::G*, void*) noexcept { return true; }

bool unlock_after_switch(rt::G*, void* channel) noexcept {
  static_cast<chan_core*>(channel)->lock.release();
  return true;
}

template <class Direction>
[[gnu::noinline]] bool wait_for_ever() noexcept {
  if (!rt::on_goroutine()) os::park_forever();
  rt::enter();
  return (rt::park(&never, nullptr, Direction::why_nil) & 1) != 0;
}

// On a plain thread. `wait` false: step::wait is an answer, too.
template <class Direction>
[[gnu::noinline]] step as_guest(chan_core& c, void* slot, bool wait) noexcept {
  rt::guest_note sleeper;
  waiter self;
  self.thread = &sleeper;
  self.slot = slot;
  self.unlink = Direction::unlink;
  rt::guest_enter();
  c.lock.acquire();
  waiter* other = nullptr;
  const step s = Direction::try_locked(c, slot, &other);
  if (s == step::wait && wait) {
    self.object = &c;
    rt::wait_queue::push_back(Direction::queue(c), &self);
  }
  c.lock.release();
  if (s == step::wake) rt::wake(nullptr, other, told(other, true));
  rt::guest_leave();
  if (s != step::wait || !wait) return s;
  sleeper.woken.sleep();
  return (sleeper.value & 1) != 0 ? step::done : step::closed;
}

// One attempt on a goroutine. Left with step::wait: still inside, and the lock is held.
template <class Direction>
inline step attempt(M* m, chan_core& c, void* slot) noexcept {
  c.lock.acquire();
  waiter* other = nullptr;
  const step s = Direction::try_locked(c, slot, &other);
  if (s == step::wait) return s;
  c.lock.release();
  if (s == step::wake) rt::wake(m, other, told(other, true));
  rt::leave(m);
  return s;
}

template <class Direction>
inline bool operate(chan_core* c, void* slot) noexcept {
  if (c == nullptr) return wait_for_ever<Direction>();
  if (!rt::on_goroutine()) return as_guest<Direction>(*c, slot, true) != step::closed;
  M* const m = rt::enter();
  const step s = attempt<Direction>(m, *c, slot);
  if (s != step::wait) return s != step::closed;
  waiter* const self = rt::self(m, c, Direction::unlink);
  self->slot = slot;
  self->winner = nullptr;
  rt::wait_queue::push_back(Direction::queue(*c), self);
  return (rt::park(&unlock_after_switch, c, Direction::why) & 1) != 0;
}

template <class Direction>
inline chan_status try_operate(chan_core* c, void* slot) noexcept {
  if (c == nullptr) return chan_status::would_block;
  step s;
  if (!rt::on_goroutine()) {
    s = as_guest<Direction>(*c, slot, false);
  } else {
    M* const m = rt::enter();
    s = attempt<Direction>(m, *c, slot);
    if (s == step::wait) {
      c->lock.release();
      rt::leave(m);
    }
  }
  if (s == step::wait) return chan_status::would_block;
  return s == step::closed ? chan_status::closed : chan_status::ok;
}

// Everybody who waits, off both queues. The losers of selects are passed over.
chan_waiters drain_locked(chan_core& c) noexcept {
  chan_waiters all;
  while (waiter* const w = take_waiter_locked(c.receivers)) rt::wait_queue::push_back(all, w);
  while (waiter* const w = take_waiter_locked(c.senders)) rt::wait_queue::push_back(all, w);
  return all;
}

bool close_inside(chan_core& c, M* m) noexcept {
  c.lock.acquire();
  if (c.closed) {
    c.lock.release();
    return false;
  }
  c.closed = true;
  chan_waiters all = drain_locked(c);
  c.lock.release();
  while (waiter* const w = rt::wait_queue::pop_front(all)) rt::wake(m, w, told(w, false));
  return true;
}

}  // namespace

bool chan_send(chan_core* c, void* value) noexcept { return operate<sending>(c, value); }
bool chan_recv(chan_core* c, void* room) noexcept { return operate<receiving>(c, room); }
chan_status chan_try_send(chan_core* c, void* value) noexcept {
  return try_operate<sending>(c, value);
}
chan_status chan_try_recv(chan_core* c, void* room) noexcept {
  return try_operate<receiving>(c, room);
}

bool chan_close(chan_core* c) noexcept {
  if (!rt::on_goroutine()) {
    rt::guest_enter();
    const bool closed = close_inside(*c, nullptr);
    rt::guest_leave();
    return closed;
  }
  M* const m = rt::enter();
  const bool closed = close_inside(*c, m);
  rt::leave(m);
  return closed;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
