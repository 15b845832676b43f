#include "sched/wake_policy/look.h"

#include "sched/hold/retake.h"
#include "sched/state.h"
#include "sched/wake_policy/invite.h"
#include "sched/wake_policy/state.h"
#include "sched/work/env.h"

namespace vole::rt::wake_policy {
namespace {

constexpr std::int64_t kBusyFor = 2 * kMilli;  // with what the poller brought, without a rest

// What sysmon remembers from one look to the next.
struct memory {
  p_history seen[kMaxProcs];
  std::int64_t longest_wait;  // of a thief, beside any P, at this look
  std::int64_t global_since;  // something waits in the global queue beside an idle P; 0: not
  std::int64_t aged_at;
};
constinit memory last_look{};

p_view see(const P& p) noexcept {
  return {p.ready_next.load(relaxed),   p.switches.get(), p.rests.get(), p.spawned.get(),
          p.wakes.wasted.load(relaxed), has_stealable(p), p.wakes.has_batch.load(relaxed)};
}

void invite_thief(P& p, probation kind) noexcept {
  p.wakes.invites.store(true, seq_cst);  // S1
  submit_on_probation(p, kind);
}

}  // namespace

void begin_looks(std::int64_t now) noexcept {
  for (p_history& s : last_look.seen) s = {};
  last_look.global_since = 0;
  last_look.aged_at = now;
}

void begin_look() noexcept { last_look.longest_wait = kThiefWaits; }
void age(std::int64_t now) noexcept { age_assessments(last_look.aged_at, now); }

bool look_at(P& p, std::int64_t now) noexcept {
  p_history& last = last_look.seen[p.id];
  if (sched.idle_p_count.load(relaxed) == 0 || p.status.load(relaxed) != p_status::running) {
    last = passed_over(last, p.spawned.get());
    return false;
  }
  const p_view there = see(p);
  const opinion o = decide(there, last, kBusyFor << of_network.wasted.load(relaxed), now);
  if (o.waits > last_look.longest_wait) last_look.longest_wait = o.waits;
  const bool stuck = (o.stands && there.stealable) || (o.defers && retake::expose(&p));
  const bool due = stuck || o.overdue;
  last = due ? after_call(there, now) : o.seen;
  if (o.stands) p.wakes.has_batch.store(false, relaxed);  // it does not look at the network soon
  if (due) invite_thief(p, there.has_batch ? probation::polled : probation::work);
  return stuck;
}

void look_at_global(bool urgent, std::int64_t now) noexcept {
  const bool waits = sched.idle_p_count.load(relaxed) != 0 && sched.global_hint() != 0;
  if (!waits) {
    last_look.global_since = 0;
  } else if (last_look.global_since == 0) {
    last_look.global_since = now;
  } else if (now - last_look.global_since >= (urgent ? kStuck : last_look.longest_wait)) {
    last_look.global_since = 0;
    submit();
  }
}

}  // namespace vole::rt::wake_policy
