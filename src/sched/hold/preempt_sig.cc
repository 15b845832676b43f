// The end of a slice, in the signal handler: strict.h.
//
// Where  signal context, on the M's alternate stack, every signal blocked. The functions called here
//        take locks of the runtime and sleep on futexes; the thread that was interrupted holds none
//        of those locks.
// Note   inside the runtime nothing is done: sysmon has set the attention word of an M whose slice
//        is over (slices.h), and the way out tests it.

#include <utility>

#include "base/fatal.h"
#include "base/lock_order.h"
#include "os/os.h"
#include "sched/work/env.h"
#include "sched/work/home.h"
#include "sched/run/lifecycle.h"
#include "sched/hold/thread_maker.h"
#include "sched/hold/retake.h"
#include "sched/state.h"
#include "sched/hold/strict.h"
#include "sched/hold/thread.h"
#include "sched/wait/p_timers.h"
#include "sched/work/wake.h"
#include "sched/hold/world.h"
#include "trace/emit.h"

namespace vole::rt::strict {
namespace {

constexpr std::uint32_t kMostCaptured = 256;

bool in_user_code(const M& m, const void* sp) noexcept {
  if (m.hot.in_rt.load(relaxed) != 0 || m.undisturbed.load(relaxed) != 0) return false;
  if (lifecycle::is_guest() || m.curg == nullptr) return false;
  const stack& s = m.curg->stack;
  return sp >= s.lo && sp < s.top();
}

// Has it been like this since the last signal: the same P with the same tick, or none? A goroutine
// that has just begun is let be.
bool slice_is_over(M& m) noexcept {
  const std::uint32_t tick = m.p != nullptr ? m.p->schedtick.load(relaxed) : 0;
  if (m.slice_p == m.p && m.slice_tick == tick) return true;
  m.slice_p = m.p;
  m.slice_tick = tick;
  return false;
}

bool somebody_waits(const P& p) noexcept {
  if (sched.stopping.load(seq_cst) || sched.idle_p_count.load(seq_cst) != 0) return false;
  return has_work(p) || sched.global_hint() != 0 || first_of_all_timers() <= os::now_ns();
}

// Past the limit of threads it keeps its P.
bool room_for_successor() noexcept {
  holding hold(sched.lock);
  return sched.idle_ms.top() != nullptr || thread_maker::may_grow_locked();
}

// in_rt = 0. A stopper that saw us inside counts on us; all others can wait until the goroutine
// comes in by itself.
void leave_handler(M& m) noexcept {
  while (m.hot.leave() && sched.stopping.load(seq_cst)) {
    m.hot.enter();
    m.retake_lock.acquire();  // behind it the P is there, or gone
    const bool has_p = m.p != nullptr;
    m.retake_lock.release();
    if (!has_p) {
      m.hot.leave();  // nobody counts on an M without a P
      return;
    }
    m.hot.attention.store(0, seq_cst);
    if (sched.stopping.load(seq_cst)) world::yield_p_to_stopper(m);
  }
}

// Without a P, as sysmon would have it.
void evict_self(M& m) noexcept {
  become_evicted(*m.curg);
  P* const p = release_p(m);
  home::shut(m);
  m.hot.attention.store(0, seq_cst);
  p->evictions.add_owner();
  hand_off(p);
  m.hot.leave();
}

// Tells the trace. Without one it only notes the capture, so that the first event of a later trace does
// not call this M's goroutine running.
void tell_captured(M& m, bool had_p) noexcept {
  if (trace::is_traced(m)) trace::captured(m, had_p);
  m.trace.captured = true;
}
void tell_let_go(M& m) noexcept {
  if (trace::is_traced(m)) trace::let_go(m);
  m.trace.captured = false;
}

// From here on anybody may wake us. p: ours until now; null: we had none.
void become_captured(M& m, P* p) noexcept {
  home::shut(m);
  m.hot.attention.store(0, seq_cst);  // what was asked is done; acquire_p asks again for a stop
  sched.captured_ms.fetch_add(1, seq_cst);
  m.captured.store(1, seq_cst);
  if (!m.stand_in.queued.exchange(true, seq_cst)) push_global(&m.stand_in);  // pairs: run_stand_in_g0
  if (p != nullptr) hand_off(p);
  if (sched.forks.load(seq_cst) != 0) release_all_captured();  // pairs: before_fork
}

void sleep_captured(M& m) noexcept {
  trace::become_quiet(m.hot);
  m.park.sleep();
  trace::end_quiet(m.hot);
  m.park.clear();
  P* const p = m.next_p;
  m.next_p = nullptr;
  if (p == nullptr) {
    m.slice_p = nullptr;
    m.slice_tick = 0;
    become_evicted(*m.curg, g_status::preempted);
    tell_let_go(m);
    m.hot.leave();  // nobody asks anything of an M without a P
    return;
  }
  acquire_p(m, p);
  set_status(*m.curg, g_status::preempted, g_status::running);
  tell_let_go(m);
  m.slice_p = p;
  m.slice_tick = p->schedtick.load(relaxed);
  leave_handler(m);
}

void capture(M& m) noexcept {
#ifdef VOLE_CHECKED
  if (lock_order::holds_any()) broken("preempt: a thread with a lock of the runtime was captured");
#endif
  m.p->preemptions.add_owner();
  set_status(*m.curg, g_status::running, g_status::preempted);
  tell_captured(m, true);
  become_captured(m, release_p(m));
  sleep_captured(m);
}

// True: m's P will not be given back, and its goroutine is not in blocking().
bool lost_its_p(M& m) noexcept {
  holding hold(m.retake_lock);
  const bool in_call = static_cast<std::uint32_t>(m.call.load(relaxed)) != 0;
  return m.p == nullptr && m.away == nullptr && !m.zombie && !in_call;
}

// The thread was released, or its P was taken, and it has run on for a slice: now it queues for a P.
void recapture(M& m) noexcept {
  if (!lost_its_p(m) || sched.stopping.load(seq_cst) || !slice_is_over(m) ||
      sched.captured_ms.load(relaxed) >= kMostCaptured)
    return leave_handler(m);
  sched.lock.acquire();
  P* const idle = pop_idle_p_locked(m.last_p);
  sched.lock.release();
  m.retake_lock.acquire();
  const bool patient = std::exchange(m.patient, false);
  m.retake_lock.release();
  if (patient) os::prefer_slice(m.tid.load(relaxed), 0);
  if (idle != nullptr) {
    acquire_p(m, idle);
    end_eviction(*m.curg, g_status::running);
    return leave_handler(m);
  }
  end_eviction(*m.curg, g_status::preempted);
  tell_captured(m, false);
  become_captured(m, nullptr);
  sleep_captured(m);
}

void end_slice(M& m) noexcept {
  if (m.hot.enter() == nullptr) return recapture(m);
  if (!slice_is_over(m) || !somebody_waits(*m.p) || !room_for_successor()) return leave_handler(m);
  if (sched.captured_ms.load(relaxed) >= kMostCaptured) return evict_self(m);
  capture(m);
}

}  // namespace

void on_slice_signal(const void* interrupted_sp, const void* context) noexcept {
  M* const m = this_m();
  if (m == nullptr) return;
  if (in_user_code(*m, interrupted_sp)) {
    const bool at_home = os::in_alternate_stack(m->alternate_stack, __builtin_frame_address(0));
    m->capturable.store(at_home, relaxed);
    m->captured_in.store(context, std::memory_order_release);  // pairs: capture::add
    if (at_home && sched.forks.load(relaxed) == 0) end_slice(*m);
    m->captured_in.store(nullptr, relaxed);
  }
  wind_up(*m);
}

}  // namespace vole::rt::strict
