// include/vole/time.h: timer, ticker, after. A channel with a clock in it.
//
// Channel and timer are one record, counted by the channel's references. A timer or ticker is one
// reference, and stops the clock when it goes; after() returns only the channel. When the last
// reference goes, the clock is stopped (end), so a timer from which nobody can receive does not run. A
// waiter counts: the clock of a channel without handles runs on until nobody waits (chan/core.h).
//
// Who    stop, reset, end: any thread, in user context. fire: g0.
// Law    only two send: the fire function, while the timer is pending, and start, under `one`,
//        if the time is past already. Both fill the one hidden place, or find it full and drop
//        the tick.
// Law    no stale value. stop and reset, one at a time (`one`):
//
//            rt::stop_timer      off the heap, and a fire function that runs has run: from here
//                                on nobody sends
//            empty the ring      under the channel's lock
//            (reset: add again)
//
//        A value that is received after they have returned was sent after they emptied the ring:
//        so it comes from the timer that reset added. A value that they took out counts as pending:
//        if a timer is stopped once, either stop() says true or its value is received, never both.
// Law    the fire function takes the channel's lock and never `one`, which is held by the thread
//        that waits for the function. Order: `one`, then the channel's lock.
// Note   when the runtime ends, pending timers are forgotten; reset starts them again in the next.
// Proof  tests/stress/clock_stress_test.cc

#include <stdexcept>

#include <vole/time.h>

#include "base/lock.h"
#include "chan/core.h"
#include "os/os.h"
#include "sched/wait/p_timers.h"
#include "time/detached_call.h"
#include "time/next_tick.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

class clock_chan final : public chan_core, public rt::timer {
 public:
  clock_chan() noexcept : chan_core(chan_type_of<time_point>::type, 1, room_, &stop_and_delete) {
    fire = &tick;
  }

  base::lock<lock_rank::object> one;  // one start or stop at a time
  std::int64_t period = 0;            // 0: once. Written under `one` while not pending

 private:
  static void tick(rt::timer* t, M* m) noexcept;
  static void stop_and_delete(chan_core* c) noexcept;

  alignas(time_point) std::byte room_[sizeof(time_point)];
};

static_assert(chan_type_of<time_point>::bytes, "fire runs no user code");

void clock_chan::tick(rt::timer* t, M* m) noexcept {
  auto& c = *static_cast<clock_chan*>(t);
  const std::int64_t now = os::now_ns();
  time_point value = from_ns(now);
  if (chan_tick_inside(c, m, &value)) return chan_retire(&c);
  if (c.period != 0) rt::add_timer_again(m, t, next_tick(c.when, c.period, now));
}

void clock_chan::stop_and_delete(chan_core* core) noexcept {
  auto* const c = static_cast<clock_chan*>(core);
  rt::inside([c](M*) noexcept { rt::stop_timer(c); });
  delete c;
}

// True: it was pending, or its value had not been received.
bool stop_locked(clock_chan& c) noexcept {
  const bool was_pending = rt::stop_timer(&c);
  c.lock.acquire_next_of_kind();
  const bool unheard = drain_ring_locked(c);
  c.lock.release();
  return was_pending || unheard;
}

// The time is past. Returns whom to wake when no lock is held.
waiter* send_now_locked(clock_chan& c, std::int64_t now) noexcept {
  waiter* w = nullptr;
  time_point value = from_ns(now);
  c.lock.acquire_next_of_kind();
  send_locked(c, &value, &w);
  c.lock.release();
  return w;
}

// What comes before the start comes before the tick.
void tell_order_locked(clock_chan& c) noexcept {
  if constexpr (base::race::on) {
    c.lock.acquire_next_of_kind();
    c.order.starts_clock(c.receivers.first);
    c.lock.release();
  }
}

bool start(clock_chan& c, std::int64_t when, std::int64_t period) noexcept {
  bool was_pending = false;
  inside_started([&](M* m) noexcept {
    waiter* w = nullptr;
    {
      holding hold(c.one);
      was_pending = stop_locked(c);
      tell_order_locked(c);
      c.period = period;
      const std::int64_t now = os::now_ns();
      if (period == 0 && when <= now) {
        w = send_now_locked(c, now);
      } else {
        rt::add_timer(m, &c, when);
      }
    }
    if (w != nullptr) rt::wake(m, w, told(w, true));
  });
  return was_pending;
}

clock_chan& clock_of(chan_core* c) noexcept { return *static_cast<clock_chan*>(c); }

}  // namespace

chan_core* make_clock(std::int64_t when, std::int64_t period) {
  auto* const c = new clock_chan;
  start(*c, when, period);
  return c;
}

bool stop_clock(chan_core* c) noexcept {
  if (c == nullptr) return false;
  bool was_pending = false;
  rt::inside([&](M*) noexcept {
    holding hold(clock_of(c).one);
    was_pending = stop_locked(clock_of(c));
  });
  return was_pending;
}

bool reset_clock(chan_core* c, std::int64_t when, std::int64_t period) noexcept {
  return c != nullptr && start(clock_of(c), when, period);
}

std::int64_t checked_period(duration d) {
  if (d <= duration::zero())
    throw std::invalid_argument("vole::ticker: the time between ticks must be positive");
  return d.count();
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
