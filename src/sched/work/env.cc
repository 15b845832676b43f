#include "sched/work/env.h"

#include "sched/hold/safe_point.h"
#include "sched/hold/thread_maker.h"
#include "sched/watch/sysmon.h"
#include "sched/work/idle.h"

namespace vole::rt {

void shipped_env::becomes_idle_locked(P& p) const noexcept {
#ifdef VOLE_CHECKED
  if (rt::has_work(p)) broken("parking: a P with work was put on the idle list");
#endif
  safe_point::run_owner(p);
  set_status(p, p_status::idle);
  p.rests.add_owner();
  wake_policy::rests(p);
}

void shipped_env::leaves_idle_locked(P& p, std::uint32_t were_idle) const noexcept {
  set_status(p, p_status::running);
  if (were_idle == sched.procs.load(relaxed)) sysmon::wake_locked();
}

M* shipped_env::new_m_locked() const noexcept { return thread_maker::new_m_locked(); }
void shipped_env::deliver(M& m) const noexcept { thread_maker::deliver(&m); }
void shipped_env::tell_limit() const noexcept { thread_maker::tell_limit(); }

void shipped_env::starts_locked(M& m) const noexcept {
  sched.count_start_locked();
  wake_policy::is_woken(m, why);
}

bool shipped_env::must_keep_polling_locked() const noexcept {
  return rt::must_keep_polling_locked();
}
void shipped_env::tell_poller() const noexcept { rt::tell_poller(); }

}  // namespace vole::rt
