#include "sched/hold/thread.h"

#include "base/fatal.h"
#include "sched/policy/contention.h"
#include "sched/work/env.h"
#include "sched/work/find.h"
#include "sched/work/idle.h"
#include "sched/hold/thread_maker.h"
#include "sched/hold/safe_point.h"
#include "sched/state.h"
#include "sched/work/surplus.h"
#include "sched/watch/sysmon.h"
#include "trace/emit.h"

namespace vole::rt {
namespace {

constexpr std::size_t kSpareMs = 4;  // asleep for ever, beside one for each P

struct idle_env {
  void lock() const noexcept { sched.lock.acquire(); }
  void unlock() const noexcept { sched.lock.release(); }
  std::int64_t patience() const noexcept {
    return std::int64_t{sched.settings.thread_idle_ms} * 1000 * 1000;
  }
  bool is_idle_locked(const M& m) const noexcept { return m.idle.load(relaxed); }
  bool too_many_locked() const noexcept {
    return sched.settings.thread_idle_ms != 0 &&
           sched.idle_ms.size() > sched.procs.load(relaxed) + kSpareMs;
  }
  bool stopping_locked() const noexcept { return sched.stopping.load(relaxed); }
  void remove_idle_m_locked(M& m) const noexcept {
    m.idle.store(false, seq_cst);
    sched.idle_ms.remove(&m);
  }
};

}  // namespace

void acquire_p(M& m, P* p) noexcept {
  trace::count_acquisition(*p);
  if (trace::is_traced(m)) [[unlikely]] trace::got_p(m, *p);
  attach_p(m, p);
}

P* release_p(M& m) noexcept {
  if (trace::is_traced(m)) [[unlikely]] trace::gives_p(m);
  return detach_p(m);
}

void attach_p(M& m, P* p) noexcept {
  holding hold(m.retake_lock);
  if (m.p != nullptr) fatal("thread: an M that has a P was given another one");
  m.p = p;
  m.last_p = p;
  m.away = nullptr;
  p->m.store(&m, seq_cst);
  p->status.store(p_status::running, relaxed);
  m.hot.p.store(p, relaxed);
  // A stopper that looked before p->m was written counts on us.
  if (sched.stopping.load(seq_cst)) m.hot.attention.store(1, seq_cst);
  safe_point::taken_owner(m);
}

P* detach_p(M& m) noexcept {
  holding hold(m.retake_lock);
  P* const p = m.p;
  if (p == nullptr) fatal("thread: an M without a P gave one up");
  m.p = nullptr;
  m.hot.p.store(nullptr, relaxed);
  p->m.store(nullptr, seq_cst);
  return p;
}

P* pop_idle_p_locked(P* preferred) noexcept {
  if (sched.stopping.load(relaxed)) return nullptr;
  if (preferred != nullptr && preferred->status.load(relaxed) == p_status::idle) {
    lifo<P, &P::next> passed;
    while (sched.idle_ps.top() != preferred) passed.push(sched.idle_ps.pop());
    sched.idle_ps.pop();
    while (P* const p = passed.pop()) sched.idle_ps.push(p);
    sched.idle_ps.push(preferred);
  }
  P* const p = sched.idle_ps.pop();
  if (p == nullptr) return nullptr;
  const std::uint32_t were_idle = sched.idle_p_count.fetch_sub(1, seq_cst);
  sched.idle_mask.clear(p->id);
  p->status.store(p_status::running, relaxed);
  if (were_idle == sched.procs.load(relaxed)) sysmon::wake_locked();
  return p;
}

void put_idle_p_locked(P* p) noexcept {
#ifdef VOLE_CHECKED
  if (has_work(*p)) fatal("thread: a P with work was put on the idle list");
#endif
  safe_point::run_owner(*p);
  p->status.store(p_status::idle, relaxed);
  sched.idle_ps.push(p);
  sched.idle_mask.set(p->id);
  p->rests.add_owner();
  p->polled.store(false, relaxed);
  p->invites.store(false, relaxed);
  sched.idle_p_count.fetch_add(1, seq_cst);
}

void drain_queue_locked(P* p) noexcept {
  lifo<runnable, &runnable::next> order;
  while (runnable* r = p->ring.pop_owner()) order.push(r);
  while (runnable* r = order.pop()) sched.global.push_front_locked(r);
  if (runnable* r = p->runnext.exchange(nullptr, seq_cst)) sched.global.push_front_locked(r);
  if (runnable* r = take_ready_next_owner(*p)) sched.global.push_front_locked(r);
}

void set_aside_p_locked(P* p, bool spinning) noexcept {
  drain_queue_locked(p);
  sched.parking.need_spinning.store(0, seq_cst);  // it implies that no P is idle
  if (spinning) parking::stop_spinning(sched.parking);
  sched.unmanned.store(true, seq_cst);
  if (!sched.stopping.load(relaxed)) return put_idle_p_locked(p);
  p->status.store(p_status::stopped, relaxed);
  if (--sched.stop_wait == 0) sched.stopped.wake();
}

void start_m(P* p, bool spinning, probation kind, P* for_whom) noexcept {
  const std::int64_t now = kind == probation::polled ? os::now_ns() : 0;
  sched.lock.acquire();
  sched.count_start_locked();
  M* m = sched.idle_ms.pop();
  const bool sleeps = m != nullptr;
  if (!sleeps) m = thread_maker::new_m_locked();
  if (m == nullptr) {
    set_aside_p_locked(p, spinning);
    sched.lock.release();
    return thread_maker::tell_limit();
  }
  m->spinning = spinning;
  m->on_probation = kind;
  m->probation_p = for_whom;
  m->woken_at = now;
  m->next_p = p;
  if (sleeps) m->idle.store(false, relaxed);
  sched.lock.release();
  sleeps ? m->park.wake() : thread_maker::deliver(m);
}

// The note has been woken: we own next_p, or must end.
bool awake(M& m) noexcept {
  m.park.clear();
  if (m.must_end) return false;
  m.idle.store(false, seq_cst);  // a locked M may be woken before it has called itself idle
  P* const p = m.next_p;
  m.next_p = nullptr;
  acquire_p(m, p);
  begin_probation(m);
  return true;
}

void tell_the_ender() noexcept {
  sched.settled.fetch_add(1, seq_cst);
  futex_wake(&sched.settled, 1);
}

bool stop_m(M& m) noexcept {
  if (m.p != nullptr || m.spinning) fatal("thread: an M went to sleep with a P or spinning");
  sched.lock.acquire();
  m.idle.store(true, seq_cst);
  sched.idle_ms.push(&m);
  idle_env env;
  const bool too_many = env.too_many_locked();
  sched.lock.release();
  if (sched.ending.load(seq_cst)) tell_the_ender();
  trace::become_quiet(m.hot);
  const bool woken = surplus::sleep(env, m, too_many);
  trace::end_quiet(m.hot);
  return woken && awake(m);
}

void hand_off(P* p) noexcept {
  p->hand_offs.add_owner();
  if (has_work(*p) || sched.global.size_now() != 0) return start_m(p, false);
  // Nobody looks for work and nobody could: keep one looking.
  int none = 0;
  if (sched.parking.spinning.load(seq_cst) == 0 && sched.idle_p_count.load(seq_cst) == 0 &&
      sched.parking.spinning.compare_exchange_strong(none, 1, seq_cst)) {
    sched.lock.acquire();
    sched.parking.need_spinning.store(0, seq_cst);
    sched.lock.release();
    return start_m(p, true);
  }
  sched.lock.acquire();
  if (sched.stopping.load(relaxed)) {
    p->status.store(p_status::stopped, relaxed);
    if (--sched.stop_wait == 0) sched.stopped.wake();
    sched.lock.release();
    return;
  }
  // A promise stands (need_spinning): whoever submitted counts on the next worker to look.
  if (sched.global.size_hint() != 0 || sched.parking.need_spinning.load(seq_cst) != 0) {
    const bool look = sched.parking.need_spinning.exchange(0, seq_cst) != 0;
    if (look) sched.parking.spinning.fetch_add(1, seq_cst);
    sched.lock.release();
    return start_m(p, look);
  }
  if (must_keep_polling_locked()) {
    sched.lock.release();
    return start_m(p, false);
  }
  put_idle_p_locked(p);
  sched.lock.release();
  tell_poller();
}

}  // namespace vole::rt
