#include "sched/wait/deadline.h"

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
  auto& t = *static_cast<deadline*>(clock->arg);
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

void arm(deadline& t, M* m, waiter* w, std::int64_t when) noexcept {
  t.w = w;
  t.object = w->object;
  t.when = when;
  w->winner = &t.winner;
  if (m == nullptr) return;
  t.clock.fire = &expire;
  t.clock.arg = &t;
  add_timer(m, &t.clock, when);
}

void disarm(deadline& t, M* m) noexcept {
  if (m != nullptr) stop_timer(&t.clock);
}

bool expire_on_thread(deadline& t) noexcept {
  if (!clock_wins(t.winner)) return false;
  guest_enter();
  t.w->unlink(t.object, t.w);
  guest_leave();
  return true;
}

bool sleeps_until(guest_note& note, std::int64_t when) noexcept {
  if (when == kNoTimer) return true;
  const std::int64_t now = os::now_ns();
  return when > now && note.woken.sleep_for(when - now);
}

}  // namespace vole::rt
