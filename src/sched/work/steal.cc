// Stealing [13]-[16]: four rounds over all Ps in a random order. Rings first; only
// the last round touches runnext, because the victim is about to run that one. Ps whose goroutines
// run better in turn (sched/wake_policy/policy.h) are passed over, but for their due timers.

#include "os/os.h"
#include "sched/work/env.h"
#include "sched/work/find.h"
#include "sched/state.h"
#include "sched/wait/p_timers.h"
#include "sched/wake_policy/policy.h"

namespace vole::rt {
namespace {

constexpr int kRounds = 4;
constexpr std::int64_t kRunnextGrace = 3000;  // ns [16]

// Enough thieves already? At most half of the busy Ps' number may search.
bool may_spin() noexcept {
  const int spinning = sched.parking.spinning.load(relaxed);
  const auto busy = static_cast<int>(sched.procs.load(relaxed) - sched.idle_p_count.load(relaxed));
  return 2 * spinning < busy;
}

// Idle Ps have nothing but timers, which only the last round looks at: if no other P is busy, the thief
// makes that round alone.
int first_round() noexcept {
  return sched.idle_p_count.load(relaxed) + 1 < sched.procs.load(relaxed) ? 1 : kRounds;
}

// Known without a look at its lines.
bool has_nothing(std::uint32_t id, int round) noexcept {
  return sched.idle_mask.test(id) && (round != kRounds || !sched.timer_mask.test(id));
}

// The victim has nothing but its runnext. If it is running it will most likely park and run
// that G itself within microseconds: let it. One that has moved on meanwhile needs no help.
runnable* steal_runnext(P& victim) noexcept {
  runnable* next = victim.runnext.load(relaxed);
  if (next == nullptr) return nullptr;
  if (victim.status.load(relaxed) == p_status::running) {
    const std::int64_t until = os::now_ns() + kRunnextGrace;
    while (os::now_ns() < until) cpu_relax();
    if (victim.runnext.load(relaxed) != next) return nullptr;
  }
  return victim.runnext.compare_exchange_strong(next, nullptr, std::memory_order_acq_rel, relaxed)
             ? next
             : nullptr;
}

// Due timers of a P that is busy, or idle [14]. True: what they made runnable is in our own queue.
bool steal_timers(M& m, P& victim) noexcept {
  return sched.timer_mask.test(victim.id) && first_timer(victim.id) != kNoTimer &&
         fire_due_timers(m, victim.id, os::now_ns());
}

runnable* steal_from(P& thief, P& victim, bool last_round) noexcept {
  if (runnable* r = thief.ring.steal_half_owner(victim.ring)) {
    thief.stolen.add_owner(1 + thief.ring.size());
    return r;
  }
  runnable* const next = last_round ? steal_runnext(victim) : nullptr;
  if (next != nullptr) thief.stolen.add_owner();
  return next;
}

}  // namespace

runnable* find_stolen(M& m) noexcept {
  shipped_env env;
  wake_policy::looks_for_theft_g0(m);
  if (!m.spinning) {
    if (!may_spin()) return nullptr;
    parking::become_spinning(env, m);
  }
  P& thief = *m.p;
  for (int round = first_round(); round <= kRounds; ++round) {
    for (steal_order order(sched.strides, m.random.next()); !order.done(); order.step()) {
      if (sched.stopping.load(relaxed)) return nullptr;
      if (has_nothing(order.victim(), round)) continue;
      P& victim = *sched.p_at(order.victim());
      if (&victim == &thief) continue;
      if (round == kRounds && steal_timers(m, victim))
        if (runnable* const r = find_local(thief)) return r;
      if (sched.idle_mask.test(victim.id) || wake_policy::refuses_thieves(victim)) continue;
      runnable* const r = steal_from(thief, victim, round == kRounds);
      if (r == nullptr) continue;
      thief.steals.add_owner();
      wake_policy::stole(m, victim);
      bump_tick(thief);
      return r;
    }
  }
  return nullptr;
}

}  // namespace vole::rt
