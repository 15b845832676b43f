#include "sched/life/enter.h"

#include "base/fatal.h"
#include "os/os.h"
#include "sched/work/home.h"
#include "sched/run/lifecycle.h"
#include "sched/park.h"
#include "sched/hold/retake.h"
#include "sched/hold/safe_point.h"
#include "sched/state.h"
#include "sched/hold/thread.h"
#include "sched/life/value_move.h"
#include "sched/work/wake.h"
#include "sched/hold/world.h"
#include "trace/emit.h"

namespace vole::rt {

constinit atomic<std::uint32_t> left_behind{0};

namespace {

bool queue_globally(G* g, void*) noexcept {
  end_eviction(*g, g_status::runnable);
  if (g->homed) {
    home::open_if_shut(*g->locked_m);  // it looks for a P now
    home::deliver(g);
  } else {
    push_global(g);
  }
  return true;
}

// User code goes on without a P that somebody would give back.
void leave_without_p(M& m) noexcept {
  home::shut(m);
  m.hot.leave();  // nobody asks anything of an M without a P
}

// Somebody may be looking at our P right now; behind the lock it is either back or gone.
bool restored(M& m) noexcept {
  m.retake_lock.acquire();
  const bool has_p = m.p != nullptr, zombie = m.zombie, patient = m.patient;
  if (!has_p) {
    // The P was lent to the world-stopper. A zombie has written its last event.
    if (m.away != nullptr && !zombie && trace::is_traced(m)) trace::gives_p(m);
    m.away = nullptr;  // from here on nobody gives it back to us
    m.returns.store(m.returns.load(relaxed) + 1, relaxed);
  }
  m.patient = false;
  m.retake_lock.release();
  if (zombie) sleep_as_zombie();
  if (patient) os::prefer_slice(m.tid.load(relaxed), 0);
  return has_p;
}

// In user code, on the goroutine's own stack.
bool may_yield_here(const M& m, const G& g) noexcept {
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  return m.hot.in_rt.load(relaxed) == 0 && here >= g.stack.lo && here < g.stack.lo + g.stack.bytes &&
         m.undisturbed.load(relaxed) == 0 && !lifecycle::is_guest();
}

}  // namespace

void entered_twice() noexcept {
  refuse_in_value_move();
  fatal(
      "entered the runtime twice: was vole called from a signal handler? It must not be: have the "
      "handler write to a pipe or set a flag instead");
}

void sleep_as_zombie() noexcept {
  base::end_if_dying();  // an exception's what() has called vole
  left_behind.fetch_sub(1, relaxed);
  os::park_forever();
}

// Is the attention word set while the P is away? At the end of a runtime that is so for all that are in
// user code (sched/run/end.cc). A taker that is just looking at our P makes us yield for nothing.
void sleep_if_left_behind() noexcept {
  const M* const m = arch::this_m();
  if (m == nullptr || m->hot.attention.load(relaxed) == 0 || m->hot.p.load(relaxed) != nullptr ||
      m->curg == nullptr || !may_yield_here(*m, *m->curg))
    return;
  const int error = os::get_errno();
  attend();
  os::set_errno(error);
}

bool may_park_here() noexcept {
  const M* const m = arch::this_m();
  return m != nullptr && m->curg != nullptr && may_yield_here(*m, *m->curg) && !in_value_move() &&
         lifecycle::now() == lifecycle::phase::running;
}

bool may_wake_here() noexcept {
  if (lifecycle::now() != lifecycle::phase::running || lifecycle::is_guest()) return false;
  const M* const m = arch::this_m();
  return m == nullptr || (m->curg != nullptr && m->hot.in_rt.load(relaxed) == 0 &&
                          m->undisturbed.load(relaxed) == 0 && !in_value_move());
}

M* reenter() noexcept {
  for (;;) {
    lifecycle::refuse_forked_child();
    M* m = arch::this_m();
    if (restored(*m)) return m;
    sched.lock.acquire();
    P* const p = pop_idle_p_locked(m->last_p);
    sched.lock.release();
    if (p != nullptr) {
      acquire_p(*m, p);
      end_eviction(*m->curg, g_status::running);
      return m;
    }
    vole_door_park(&queue_globally, nullptr, static_cast<std::uint32_t>(wait_reason::processor));
    m = arch::this_m();
    if (m->hot.enter() != nullptr) return m;
  }
}

bool enter_or_look(M& m) noexcept { return m.hot.enter() != nullptr || restored(m); }

void regain() noexcept {
  if (lifecycle::now() == lifecycle::phase::forked) return;  // blocking(fork): let it exec
  M* const m = arch::this_m();
  const bool has_p = enter_or_look(*m);
  if (trace::is_traced(*m)) [[unlikely]] trace::call_ends(*m);
  if (!has_p) {
    sched.lock.acquire();
    P* const p = pop_idle_p_locked(m->last_p);
    sched.lock.release();
    if (p == nullptr) return leave_without_p(*m);
    acquire_p(*m, p);
    end_eviction(*m->curg, g_status::running);
  }
  leave(m);
}

// Whatever is called from here may have been compiled with a checkpoint of its own: an inline
// function of the standard library exists once in a program, and the linker takes any of its copies.
void entry_checkpoint() noexcept {
  const M* const m = arch::this_m();
  G* const g = m != nullptr ? m->curg : nullptr;
  if (g == nullptr || g->at_entry) return;
  g->at_entry = true;
  if (m->hot.attention.load(relaxed) != 0 && may_yield_here(*m, *g)) {
    const int error = os::get_errno();  // the caller may be about to look
    attend();
    os::set_errno(error);
  }
  g->at_entry = false;
}

void attend() noexcept {
  if (in_value_move()) return;  // the word is tested again when the runtime is left
  for (;;) {
    M* const m = enter();
    // A safe point asked, or the request has been served without us.
    if (safe_point::attend_owner(*m) || m->hot.attention.load(seq_cst) == 0) {
      if (!m->hot.leave()) return;
      continue;
    }
    if (!sched.stopping.load(seq_cst)) {
      // The slice is over [29]. The yield finds the attention word still set, so the goroutine
      // goes to the global queue, and g0 clears the word.
      m->p->preemptions.add_owner();
      m->hot.leave();
      return vole_door_yield();
    }
    m->hot.attention.store(0, seq_cst);
    if (sched.stopping.load(seq_cst)) world::yield_p_to_stopper(*m);
    if (!m->hot.leave()) return;  // or the next stopper, whose look has failed, counts on us
  }
}

void attend_in_place() noexcept {
  for (M* const m = arch::this_m();;) {
    if (m->hot.enter() == nullptr && !restored(*m)) return leave_without_p(*m);
    if (!sched.stopping.load(seq_cst)) {
      m->hot.leave();  // the word stays set: the next time we leave we yield
      if (!sched.stopping.load(seq_cst)) return;
      continue;  // a stopper that came meanwhile may have seen us inside
    }
    m->hot.attention.store(0, seq_cst);
    if (sched.stopping.load(seq_cst)) world::yield_p_to_stopper(*m);
    if (!m->hot.leave()) return;
  }
}

}  // namespace vole::rt

extern "C" void vole_leave_slow() noexcept { vole::rt::attend(); }
