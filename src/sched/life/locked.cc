#include "sched/life/locked.h"

#include "sched/life/enter.h"
#include "sched/work/home.h"
#include "sched/state.h"
#include "sched/hold/thread.h"
#include "trace/emit.h"

namespace vole::rt {

void lock_thread() noexcept {
  if (this_m() == nullptr) return;
  M* const m = enter();
  ++m->lock_depth;
  lock_to(*m->curg, m);
  lock_m_to(*m, m->curg);
  if (m->lock_depth == 1) home::shut(*m);
  leave(m);
}

void unlock_thread() noexcept {
  if (this_m() == nullptr) return;
  M* const m = enter();
  G* const g = m->curg;
  if (m->lock_depth > 0 && --m->lock_depth == 0) {
    lock_to(*g, nullptr);
    lock_m_to(*m, nullptr);
    home::open(*m);
  }
  leave(m);
}

bool stop_locked_m(M& m) noexcept {
  // Only find_g0 would clear it, and a locked M does not go there. acquire_p sets it again if a
  // stop is pending.
  m.hot.attention.store(0, seq_cst);
  if (m.p != nullptr) hand_off(release_p(m));
  set_status(m, m_status::idle);
  if (sched.ending.load(seq_cst)) tell_the_ender();
  trace::become_quiet(m.hot);
  m.park.sleep();
  trace::end_quiet(m.hot);
  return awake(m);
}

void start_locked_m(M& m, G* g) noexcept {
  M& to = *g->locked_m;
  to.picked = g;
  give_p_g0(m, to);
}

}  // namespace vole::rt
