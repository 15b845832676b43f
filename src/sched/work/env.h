// The parking protocol's Env, as shipped: short functions over sched.
//
// Who    sched/work/parking.h calls them; env.cc has those that need other rooms.
#pragma once

#include "sched/hold/thread.h"
#include "sched/state.h"
#include "sched/wake_policy/policy.h"
#include "sched/work/parking.h"

namespace vole::rt {

// Does this P have anything in its ring or runnext? "No" must hold at one instant: if back has not
// changed since it was first read, nothing moved from runnext to the ring in between. If the owner
// hides the last element while it takes it (queue/local_queue.h), the owner takes it in any case.
// seq_cst: part of the last look, which must not be early.
inline bool has_stealable(const P& p) noexcept {
  for (;;) {
    const std::uint32_t front = p.ring.front_now();
    const std::uint32_t back = p.ring.back_now();
    if (local_queue::count(front, back) != 0 || p.runnext.load(seq_cst) != nullptr) return true;
    if (back == p.ring.back_now()) return false;
  }
}

// The same, or something that only its owner may take?
inline bool has_work(const P& p) noexcept {
  return p.ready_next.load(relaxed) != nullptr || has_stealable(p);
}

// Its functions are called by sched/work/parking.h, which takes L and gives it back: clang checks that.
// That _locked ones are called under L, tests/model shows; hence they are VOLE_UNCHECKED.
struct shipped_env {
  shipped_env() = default;
  explicit shipped_env(const wake_policy::reason& r) noexcept : why(r) {}

  wake_policy::reason why;  // of the wake-ups that are made with it

  // ── the words ──
  parking::state& parking_state() const noexcept { return sched.parking; }
  auto& idle_ps() const noexcept VOLE_UNCHECKED { return sched.idle_ps; }
  auto& idle_p_count() const noexcept { return sched.idle_p_count; }
  p_mask& idle_mask() const noexcept { return sched.idle_mask; }
  auto& idle_ms() const noexcept VOLE_UNCHECKED { return sched.idle_ms; }
  atomic<bool>& stopping() const noexcept { return sched.stopping; }
  std::uint32_t stop_wait_locked() const noexcept VOLE_UNCHECKED { return sched.stop_wait; }
  void set_stop_wait_locked(std::uint32_t n) const noexcept VOLE_UNCHECKED { sched.stop_wait = n; }
  void lock() const noexcept VOLE_ACQUIRE(sched.lock) { sched.lock.acquire(); }
  void unlock() const noexcept VOLE_RELEASE(sched.lock) { sched.lock.release(); }

  // ── a P ──
  bool is_idle_locked(const P& p) const noexcept {
    return p.status.load(relaxed) == p_status::idle;
  }
  void becomes_idle_locked(P& p) const noexcept;
  void leaves_idle_locked(P& p, std::uint32_t were_idle) const noexcept VOLE_UNCHECKED;
  void becomes_stopped(P& p) const noexcept { set_status(p, p_status::stopped); }
  void wake_stopper_locked() const noexcept { sched.stopped.wake(); }
  P* release_p(M& m) const noexcept { return rt::release_p(m); }
  void acquire_p(M& m, P* p) const noexcept { rt::acquire_p(m, p); }
  void drain_queue_locked(P& p) const noexcept VOLE_UNCHECKED { rt::drain_queue_locked(&p); }
  void is_handed_off(P& p) const noexcept { p.hand_offs.add_owner(); }
  void is_set_aside_locked() const noexcept { sched.unmanned.store(true, seq_cst); }

  // ── a thread for it ──
  void becomes_idle(M& m) const noexcept { set_status(m, m_status::idle); }
  void leaves_idle(M& m) const noexcept { set_status(m, m_status::awake); }
  M* new_m_locked() const noexcept VOLE_UNCHECKED;
  void starts_locked(M& m) const noexcept VOLE_UNCHECKED;
  void wake(M& m) const noexcept { m.park.wake(); }
  void deliver(M& m) const noexcept;
  void tell_limit() const noexcept;

  // ── work ──
  bool has_work(const P& p) const noexcept { return rt::has_work(p); }
  bool has_global_work() const noexcept { return sched.global_now() != 0; }
  bool has_global_work_locked() const noexcept { return sched.global_hint() != 0; }
  bool must_keep_polling_locked() const noexcept VOLE_UNCHECKED;
  void tell_poller() const noexcept;
  bool any_work() const noexcept {
    if (sched.global_now() != 0) return true;
    const std::uint32_t n = sched.procs.load(std::memory_order_acquire);  // we have no P any more
    for (std::uint32_t i = 0; i < n; ++i) {
      const P& p = *sched.p_at(i);
      if (!sched.idle_mask.test(i) && !wake_policy::refuses_thieves(p) && has_stealable(p)) return true;
    }
    return false;
  }
};

inline void submit() noexcept {
  shipped_env env;
  parking::submit(env);
}

// For work that a thief would have to take from p. If nobody is woken for that, sysmon sees to it.
inline void submit_on_probation(P& p, wake_policy::probation kind) noexcept {
  shipped_env env(wake_policy::reason{kind, &p});
  parking::submit(env);
}
inline void submit_local(P& p) noexcept {
  if (wake_policy::wakes_for(p)) submit_on_probation(p, wake_policy::probation::work);
}

}  // namespace vole::rt
