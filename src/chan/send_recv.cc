// Send, receive, close: each one enter, one lock, one step (chan/core.h).

#include "chan/core.h"
#include "os/os.h"
#include "sched/contention.h"
#include "sched/timeout.h"

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

step step_of(std::uintptr_t value) noexcept {
  if (value == rt::kTimedOut) return step::wait;
  return (value & 1) != 0 ? step::done : step::closed;
}

constexpr std::int64_t kNever = rt::kNoTimer;

// On a plain thread, until `when`: step::wait says that the time was over first. 0: only tries.
template <class Direction>
[[gnu::noinline]] step as_guest(chan_core& c, void* slot, std::int64_t when) noexcept {
  rt::guest_note sleeper;
  atomic<std::uint32_t> winner{0};
  waiter self;
  self.thread = &sleeper;
  self.slot = slot;
  self.unlink = Direction::unlink;
  self.winner = &winner;
  rt::guest_enter();
  c.lock.acquire();
  waiter* other = nullptr;
  const step s = Direction::try_locked(c, slot, &other);
  if (s == step::wait && when != 0) {
    self.object = &c;
    rt::wait_queue::push_back(Direction::queue(c), &self);
  }
  c.lock.release();
  if (s == step::wake) rt::wake(nullptr, other, told(other, true));
  rt::guest_leave();
  if (s != step::wait || when == 0) return s;
  if (when != kNever) return step_of(rt::guest_sleep_until(self, &c, winner, when));
  sleeper.woken.sleep();
  return step_of(sleeper.value);
}

[[gnu::noinline]] void acquire_contended(M* m, chan_core& c) noexcept {
  rt::note_contention(*m);
  c.lock.acquire();
}

// One attempt on a goroutine. Left with step::wait: still inside, and the lock is held. Inlined by
// force: in a frame of its own it would save and load every register again.
template <class Direction>
[[gnu::always_inline]] inline step attempt(M* m, chan_core& c, void* slot) noexcept {
  if (!c.lock.try_acquire()) [[unlikely]] acquire_contended(m, c);
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
  if (!rt::on_goroutine()) return as_guest<Direction>(*c, slot, kNever) != step::closed;
  M* const m = rt::enter();
  const step s = attempt<Direction>(m, *c, slot);
  if (s != step::wait) return s != step::closed;
  waiter* const self = rt::self(m, c, Direction::unlink);
  self->slot = slot;
  rt::wait_queue::push_back(Direction::queue(*c), self);
  return (rt::park(&unlock_after_switch, c, Direction::why) & 1) != 0;
}

// One attempt, on any thread.
template <class Direction>
inline step try_step(chan_core& c, void* slot) noexcept {
  if (!rt::on_goroutine()) return as_guest<Direction>(c, slot, 0);
  M* const m = rt::enter();
  const step s = attempt<Direction>(m, c, slot);
  if (s == step::wait) {
    c.lock.release();
    rt::leave(m);
  }
  return s;
}

chan_status status_of(step s, chan_status if_wait) noexcept {
  if (s == step::wait) return if_wait;
  return s == step::closed ? chan_status::closed : chan_status::ok;
}

// The nil channel, until `when`.
template <class Direction>
chan_status nil_until(std::int64_t when) noexcept {
  if (when > 0) rt::sleep_until_ns(when, Direction::why_nil);
  return chan_status::timeout;
}

template <class Direction>
chan_status operate_until(chan_core* c, void* slot, std::int64_t when) noexcept {
  if (when == kNever) {
    return operate<Direction>(c, slot) ? chan_status::ok : chan_status::closed;
  }
  if (c == nullptr) return nil_until<Direction>(when);
  if (when <= os::now_ns()) return status_of(try_step<Direction>(*c, slot), chan_status::timeout);
  if (!rt::on_goroutine())
    return status_of(as_guest<Direction>(*c, slot, when), chan_status::timeout);
  M* m = rt::enter();
  const step s = attempt<Direction>(m, *c, slot);
  if (s != step::wait) return status_of(s, chan_status::timeout);
  rt::timeout clock;
  waiter* const self = rt::self(m, c, Direction::unlink);
  self->slot = slot;
  rt::arm(clock, self, when);
  rt::wait_queue::push_back(Direction::queue(*c), self);
  const std::uintptr_t value = rt::park(&unlock_after_switch, c, Direction::why);
  if (value != rt::kTimedOut) {
    m = rt::enter();
    rt::disarm(clock);
    rt::leave(m);
  }
  return status_of(step_of(value), chan_status::timeout);
}

// Everybody who waits, off both queues. The losers of selects are passed over.
chan_waiters drain_locked(chan_core& c) noexcept {
  chan_waiters all;
  while (waiter* const w = rt::wait_queue::pop_claimed(c.receivers)) rt::wait_queue::push_back(all, w);
  while (waiter* const w = rt::wait_queue::pop_claimed(c.senders)) rt::wait_queue::push_back(all, w);
  return all;
}

}  // namespace

bool chan_close_inside(chan_core& c, M* m) noexcept {
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

step chan_try_send_inside(chan_core& c, M* m, void* value) noexcept {
  c.lock.acquire();
  waiter* other = nullptr;
  const step s = send_locked(c, value, &other);
  c.lock.release();
  if (s != step::wake) return s;
  rt::wake(m, other, told(other, true));
  return step::done;
}

bool chan_send(chan_core* c, void* value) noexcept { return operate<sending>(c, value); }
bool chan_recv(chan_core* c, void* room) noexcept { return operate<receiving>(c, room); }
chan_status chan_try_send(chan_core* c, void* value) noexcept {
  if (c == nullptr) return chan_status::would_block;
  return status_of(try_step<sending>(*c, value), chan_status::would_block);
}
chan_status chan_try_recv(chan_core* c, void* room) noexcept {
  if (c == nullptr) return chan_status::would_block;
  return status_of(try_step<receiving>(*c, room), chan_status::would_block);
}
chan_status chan_send_until(chan_core* c, void* value, std::int64_t when) noexcept {
  return operate_until<sending>(c, value, when);
}
chan_status chan_recv_until(chan_core* c, void* room, std::int64_t when) noexcept {
  return operate_until<receiving>(c, room, when);
}

bool chan_close(chan_core* c) noexcept {
  if (!rt::on_goroutine()) {
    rt::guest_enter();
    const bool closed = chan_close_inside(*c, nullptr);
    rt::guest_leave();
    return closed;
  }
  M* const m = rt::enter();
  const bool closed = chan_close_inside(*c, m);
  rt::leave(m);
  return closed;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
