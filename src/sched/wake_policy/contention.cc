// Threads that meet each other at locks too often: one of them retires.
#include "sched/wake_policy/contention.h"

#include "os/os.h"
#include "sched/wake_policy/state.h"
#include "sched/work/env.h"

namespace vole::rt {
namespace wake_policy {
namespace {

constexpr std::int64_t kJustNow = 400 * 1000;  // ns

// From now on p's goroutines run in turn.
void lose_helper(P& p) noexcept {
  if (wakes_for(p)) p.wakes.wasted.store(kManyWasted, relaxed);
  count_wasted(p);
}

// Another M that has a P, and has met others just now, too: it will run our work. A loop on the other P
// would not, and a plain thread is no rival that could run it.
P* rival_of_locked(const M& m) noexcept {
  const std::int64_t since = os::now_ns() - kJustNow;
  const std::uint32_t n = sched.procs.load(relaxed);
  for (std::uint32_t i = 0; i < n; ++i) {
    P* const p = sched.p_at(i);
    const M* const other = p->m.load(seq_cst);
    if (other != nullptr && other != &m && other->wakes.contended_at.load(relaxed) > since) return p;
  }
  return nullptr;
}

}  // namespace

bool count_meeting(M& m, std::int64_t now) noexcept {
  m.wakes.contended_at.store(now, relaxed);
  if (now - m.wakes.contended_since > kWindow) {
    m.wakes.contended_since = now;
    m.wakes.contended = 0;
  }
  return ++m.wakes.contended == kTooMuch;
}

bool retires_g0(M& m) noexcept {
  if (m.wakes.contended < kTooMuch) return false;
  m.wakes.contended = 0;
  holding hold(sched.lock);
  if (m.spinning || sched.stopping.load(relaxed)) return false;
  P* const rival = rival_of_locked(m);
  if (rival == nullptr) return false;
  lose_helper(*rival);
  lose_helper(*m.p);
  m.wakes.called_at = 0;
  shipped_env env;
  parking::retire_locked(env, m);
  return true;
}

}  // namespace wake_policy

void note_contention(M& m) noexcept {
  if (m.locked_g != nullptr) return;  // its M does not come to find_g0
  if (wake_policy::count_meeting(m, os::now_ns())) m.hot.attention.store(1, seq_cst);  // to g0
}

}  // namespace vole::rt
