#include "sched/watch/due_timers.h"

#include "sched/state.h"
#include "sched/wait/p_timers.h"
#include "sched/work/env.h"
#include "sched/work/idle.h"

namespace vole::rt::sysmon {
namespace {

// With an idle P beside, a thief fires them: the poller's M, or one that is woken; else the P's own M
// must.
void serve(P& p, std::int64_t now) noexcept {
  if (sched.idle_p_count.load(relaxed) != 0)
    return sched.last_poll.load(seq_cst) != 0 ? submit() : tell_poller();
  M* const m = p.m.load(seq_cst);
  if (m != nullptr && first_timer(p.id) <= now) m->hot.attention.store(1, seq_cst);
}

}  // namespace

std::int64_t serve_due_timers(std::int64_t now) noexcept {
  std::int64_t next = kNoTimer;
  sched.timer_mask.for_each(sched.procs.load(seq_cst), [&](std::uint32_t i) {
    const std::int64_t first = first_timer(i);
    if (first <= now) {
      serve(*sched.p_at(i), now);
    } else if (first < next) {
      next = first;
    }
  });
  return next;
}

}  // namespace vole::rt::sysmon
