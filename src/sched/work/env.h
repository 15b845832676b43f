// The parking protocol's Env, as shipped: one-line functions over sched.
#pragma once

#include "sched/work/parking.h"
#include "sched/state.h"
#include "sched/hold/thread.h"

namespace vole::rt {

// Does this P have anything in its ring or runnext? That there is nothing must hold at one instant:
// if back is what it was when it was first read, what had been in runnext was not in the ring then.
// One that the owner hides while it takes it, and it is the last, is taken in any case. seq_cst: part
// of the last look, which must not be early.
inline bool has_stealable(const P& p) noexcept {
  for (;;) {
    const std::uint32_t front = p.ring.front_now();
    const std::uint32_t back = p.ring.back_now();
    if (local_queue::count(front, back) != 0 || p.runnext.load(seq_cst) != nullptr) return true;
    if (back == p.ring.back_now()) return false;
  }
}

// Likewise, or something that only its owner may take?
inline bool has_work(const P& p) noexcept {
  return p.ready_next.load(relaxed) != nullptr || has_stealable(p);
}

struct shipped_env {
  shipped_env() = default;
  shipped_env(probation t, P& p) noexcept : kind(t), for_whom(&p) {}

  probation kind = probation::none;  // who is woken
  P* for_whom = nullptr;       // with whose work it is judged

  parking::state& parking_state() const noexcept { return sched.parking; }
  void lock() const noexcept { sched.lock.acquire(); }
  void unlock() const noexcept { sched.lock.release(); }
  P* pop_idle_p_locked() const noexcept { return rt::pop_idle_p_locked(nullptr); }
  void start_spinning_m(P* p) const noexcept { start_m(p, true, kind, for_whom); }
  bool must_not_idle_locked() const noexcept {
    return sched.stopping.load(relaxed) || sched.global.size_hint() != 0;
  }
  void release_p_to_idle_locked(M& m) const noexcept { put_idle_p_locked(release_p(m)); }
  void acquire_p(M& m, P* p) const noexcept { rt::acquire_p(m, p); }
  bool any_work() const noexcept {
    if (sched.global.size_now() != 0) return true;
    const std::uint32_t n = sched.procs.load(std::memory_order_acquire);  // we have no P any more
    for (std::uint32_t i = 0; i < n; ++i) {
      const P& p = *sched.p_at(i);
      if (!sched.idle_mask.test(i) && !refuses_thieves(p) && has_stealable(p)) return true;
    }
    return false;
  }
};

inline void submit() noexcept {
  shipped_env env;
  parking::submit(env);
}

// For work that a thief would have to take from p. While wake-ups for p's work are in wasted_wakes, it is
// left to sysmon (sched/work/wake.h).
inline void submit_on_probation(P& p, probation kind) noexcept {
  shipped_env env(kind, p);
  parking::submit(env);
}
inline void submit_local(P& p) noexcept {
  if (!runs_in_turn(p)) submit_on_probation(p, probation::work);
}

}  // namespace vole::rt
