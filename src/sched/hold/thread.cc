#include "sched/hold/thread.h"

#include "base/fatal.h"
#include "sched/hold/safe_point.h"
#include "sched/state.h"
#include "sched/wake_policy/policy.h"
#include "sched/work/env.h"
#include "sched/work/find.h"
#include "sched/work/home.h"
#include "sched/work/surplus.h"
#include "trace/emit.h"

namespace vole::rt {
namespace {

struct idle_env : shipped_env {
  static std::int64_t patience() noexcept { return wake_policy::surplus_patience(); }
  bool is_idle_locked(const M& m) const noexcept { return m.idle.load(relaxed); }
  static bool too_many_locked() noexcept VOLE_UNCHECKED { return wake_policy::too_many(sched.idle_ms.size()); }
};

}  // namespace

void acquire_p(M& m, P* p) noexcept {
  trace::count_acquisition(*p);
  if (trace::is_traced(m)) [[unlikely]]
    trace::got_p(m, *p);
  attach_p(m, p);
}

P* release_p(M& m) noexcept {
  if (trace::is_traced(m)) [[unlikely]]
    trace::gives_p(m);
  return detach_p(m);
}

void attach_p(M& m, P* p) noexcept {
  holding hold(m.retake_lock);
  if (m.p != nullptr) broken("thread: an M that has a P was given another one");
  m.p = p;
  m.last_p = p;
  m.away = nullptr;
  p->m.store(&m, seq_cst);
  set_status(*p, p_status::running);
  m.hot.p.store(p, relaxed);
  // A stopper that looked before p->m was written counts on us.
  if (sched.stopping.load(seq_cst)) m.hot.attention.store(1, seq_cst);
  home::open_if_shut(m);
  safe_point::taken_owner(m);
}

P* detach_p(M& m) noexcept {
  holding hold(m.retake_lock);
  P* const p = m.p;
  if (p == nullptr) broken("thread: an M without a P gave one up");
  m.p = nullptr;
  m.hot.p.store(nullptr, relaxed);
  p->m.store(nullptr, seq_cst);
  return p;
}

P* pop_idle_p_locked(P* preferred) noexcept {
  shipped_env env;
  return parking::pop_idle_p_locked(env, preferred);
}

void put_idle_p_locked(P* p) noexcept {
  shipped_env env;
  parking::put_idle_p_locked(env, p);
}

void drain_queue_locked(P* p) noexcept {
  lifo<runnable, &runnable::next> order;
  while (runnable* r = p->ring.pop_owner()) order.push(r);
  while (runnable* r = order.pop()) sched.global.push_front_locked(r);
  if (runnable* r = p->runnext.exchange(nullptr, seq_cst)) sched.global.push_front_locked(r);
  if (runnable* r = take_ready_next_owner(*p)) sched.global.push_front_locked(r);
}

void call_off_locked(M& m) noexcept {
  shipped_env env;
  parking::call_off_locked(env, m);
}

// The note has been woken: we own next_p, or must end.
bool awake(M& m) noexcept {
  m.park.clear();
  if (m.must_end) return false;
  set_status(m, m_status::awake);  // a locked M may be woken before it has called itself idle
  P* const p = m.next_p;
  m.next_p = nullptr;
  acquire_p(m, p);
  wake_policy::comes_awake(m);
  return true;
}

void tell_the_ender() noexcept {
  sched.settled.fetch_add(1, seq_cst);
  futex_wake(&sched.settled, 1);
}

bool stop_m(M& m) noexcept {
  if (m.p != nullptr || m.spinning) broken("thread: an M went to sleep with a P or spinning");
  home::open_if_shut(m);
  sched.lock.acquire();
  idle_env env;
  parking::push_idle_m_locked(env, m);  // H3
  P* const p = home::last_look_locked(m);
  const bool too_many = env.too_many_locked() && m.home.goroutines.load(relaxed) == 0;
  sched.lock.release();
  if (p != nullptr) {
    acquire_p(m, p);
    return true;
  }
  if (sched.ending.load(seq_cst)) tell_the_ender();
  trace::become_quiet(m.hot);
  const bool woken = surplus::sleep(env, m, too_many);
  trace::end_quiet(m.hot);
  return woken && awake(m);
}

void hand_off(P* p) noexcept {
  shipped_env env;
  parking::hand_off(env, p);
}

void give_p_g0(M& m, M& to) noexcept {
  P* const p = release_p(m);
  sched.lock.acquire();
  sched.count_start_locked();
  sched.lock.release();
  wake_policy::is_woken_for_one(to);
  to.next_p = p;
  to.park.wake();
}

}  // namespace vole::rt
