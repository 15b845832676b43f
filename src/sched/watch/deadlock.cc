#include "sched/watch/deadlock.h"

#include "arch/sanitizer.h"
#include "base/fatal.h"
#include "os/os.h"
#include "sched/run/control_door.h"
#include "sched/report/reporter.h"
#include "sched/state.h"
#include "sched/work/home.h"
#include "sched/wait/p_timers.h"

namespace vole::rt::deadlock {
namespace {

// The thread maker, sysmon, and the thread inside run(); TSan's own; the reporter and the control
// socket's, if they run.
std::uint32_t other_threads() noexcept {
  return 3 + (arch::kThreadSanitizer ? 1 : 0) + reporter::threads() +
         control::threads();
}

struct stillness {
  bool all_asleep;
  std::uint32_t threads;   // Ms
  std::uint64_t starts;    // how often an M was ever started
};

stillness see() noexcept {
  holding hold(sched.lock);
  std::uint32_t asleep = 0;
  m_slab.for_each([&](const M* m) {
    // One with mail is about to be up: who delivered it has interrupted the poller, perhaps, and sleeps.
    const bool sleeps = (m->idle.load(seq_cst) || m->polling.load(seq_cst)) && !home::has_mail_now(*m);
    asleep += m->alive.load(std::memory_order_acquire) && sleeps ? 1u : 0u;
  });
  return {asleep == sched.m_count && sched.global_hint() == 0 &&
              !sched.stopping.load(relaxed) &&
              sched.idle_p_count.load(relaxed) == sched.procs.load(relaxed),
          sched.m_count, sched.starts.load(relaxed)};
}

// A goroutine that the poller has found keeps its status until the M is out of the poller.
bool anybody_waits_for_network() noexcept {
  bool waits = false;
  g_slab.for_each([&](const G* g) {
    waits |= status_of(*g) == g_status::waiting && g->why.load(relaxed) == wait_reason::network;
  });
  return waits;
}

bool anybody_alive() noexcept {
  bool alive = false;
  g_slab.for_each([&](const G* g) {
    const g_status s = status_of(*g);
    alive |= s != g_status::idle && s != g_status::dead;
  });
  return alive;
}

}  // namespace

answer look() noexcept {
  if (!sched.in_run.load(seq_cst)) return answer::none;
  const stillness before = see();
  // A goroutine that runs on without a P may come back any time, and takes a P then: that wakes sysmon.
  if (!before.all_asleep)
    return sched.evicted.load(seq_cst) != 0 ? answer::none : answer::unsettled;
  if (!sched.main_runs.load(seq_cst) || pending_timers() != 0) return answer::none;
  if (anybody_waits_for_network()) return answer::none;
  if (os::thread_count() > before.threads + other_threads()) return answer::others;
  const stillness after = see();
  if (!after.all_asleep || after.starts != before.starts || !sched.main_runs.load(seq_cst))
    return answer::unsettled;
  if (!anybody_alive()) fatal("no goroutines (main called exit_goroutine) - deadlock!");
  fatal("all goroutines are asleep - deadlock!");
}

}  // namespace vole::rt::deadlock
