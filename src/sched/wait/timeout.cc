#include "sched/wait/timeout.h"

#include "os/os.h"
#include "sched/life/enter.h"
#include "sched/park.h"
#include "sched/state.h"
#include "sched/life/value_move.h"

namespace vole::rt {
namespace {

bool clock_wins(atomic<std::uint32_t>& winner) noexcept {
  std::uint32_t none = 0;
  return winner.compare_exchange_strong(none, 1, seq_cst);
}

void expire(timer* clock, M* m) noexcept {
  auto& t = *static_cast<timeout*>(clock->arg);
  if (!clock_wins(t.winner)) return;
  waiter* const w = t.w;
  w->unlink(t.object, w);
  wake(m, w, kTimedOut);
}

// A sleep: nothing but the clock, which starts when the context is saved.
bool start_nap(G* g, void* when) noexcept {
  add_sleeper(*this_m(), g, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(when)));
  return true;
}

}  // namespace

void sleep_until_ns(std::int64_t when, wait_reason why) noexcept {
  const std::int64_t now = os::now_ns();
  if (when <= now) return sleep_if_left_behind();
  if (!on_goroutine()) return sleep_thread(when - now);
  sleep_goroutine_until(when, why);
}

void sleep_thread(std::int64_t ns) noexcept {
  refuse_in_value_move();
  note nobody;
  nobody.sleep_for(ns);
}

void sleep_goroutine_until(std::int64_t when, wait_reason why) noexcept {
  enter();
  park(&start_nap, reinterpret_cast<void*>(static_cast<std::intptr_t>(when)), why);
}

void arm(timeout& t, waiter* w, std::int64_t when) noexcept {
  t.w = w;
  t.object = w->object;
  w->winner = &t.winner;
  t.clock.fire = &expire;
  t.clock.arg = &t;
  add_timer(this_m(), &t.clock, when);
}

void disarm(timeout& t) noexcept { stop_timer(&t.clock); }

std::uintptr_t guest_sleep_until(waiter& w, void* object, atomic<std::uint32_t>& winner,
                                 std::int64_t when) noexcept {
  const std::int64_t now = os::now_ns();
  if ((when <= now || !w.thread->woken.sleep_for(when - now)) && clock_wins(winner)) {
    guest_enter();
    w.unlink(object, &w);
    guest_leave();
    return kTimedOut;
  }
  return w.thread->sleep();
}

}  // namespace vole::rt
