// The scheduler's loop: what an M does on its own stack (g0).
//
// Law    every runnable is run by run_g0, or switched to by a door if it is a goroutine that may run as
//        it is (quick pick, sched/life/switch.cc).
// Law    g0 is always inside the runtime (in_rt == 1). It runs one after
//        the other; most switches go from goroutine to goroutine without it.

#include <utility>

#include "arch/context.h"
#include "base/fatal.h"
#include "base/lock_order.h"
#include "os/os.h"
#include "sched/report/dump.h"
#include "sched/run/end.h"
#include "sched/work/env.h"
#include "sched/work/find.h"
#include "sched/work/home.h"
#include "sched/life/locked.h"
#include "sched/hold/thread_maker.h"
#include "sched/state.h"
#include "sched/hold/strict.h"
#include "sched/life/switch.h"
#include "sched/watch/sysmon.h"
#include "sched/hold/thread.h"
#include "trace/emit.h"

namespace vole::rt {
namespace {

constexpr std::size_t kStackRefill = 16;

void warm_up(const stack& s) noexcept {
  arch::san_fresh_stack(s.lo, s.bytes);
  arch::make_first_frame(s.top());
}

void attach_from_depot(P& p, G* g) noexcept {
  int error = 0;
  if (g->stack.bytes != sched.settings.stack_bytes) {
    stack one;
    if (depot::take(g->stack.bytes, &one, 1, &error, p.id) == 1) return attach_stack(g, one);
  } else {
    p.stacks = static_cast<std::uint32_t>(
        depot::take(g->stack.bytes, p.stack_cache, kStackRefill, &error, p.id));
    // Here, where no lock is held: a goroutine that parks attaches a stack to its successor while it
    // still holds an object's lock, and the first touch takes the kernel two microseconds.
    for (std::uint32_t i = 0; i < p.stacks; ++i) warm_up(p.stack_cache[i]);
    if (attach_cached_stack(p, g)) return;
  }
  sentence s;
  s << "cannot get a stack of " << g->stack.bytes << " bytes for ";
  dump::put_goroutine(s, *g);
  s << ": " << os::error_text(error)
    << ". Fewer goroutines at once, smaller stacks (stack_size, VOLE_STACK_SIZE) or a higher "
       "memory limit would help";
  fatal(s);
}

// The next one to run; nullptr: the thread must end.
runnable* next_g0(M& m) noexcept {
#ifdef VOLE_CHECKED
    if (lock_order::holds_any()) broken("loop: an M looks for work and holds a lock");
#endif
  if (m.ends_with_g) return nullptr;  // [25]
  if (m.locked_g != nullptr && !stop_locked_m(m)) return nullptr;
  runnable* const r = std::exchange(m.picked, nullptr);
  return r != nullptr ? r : find_g0(m);
}

// A goroutine that is tied to a thread. False: another M will run it.
[[gnu::noinline]] bool may_run_locked(M& m, G* g) noexcept {
  if (g->homed) return g->locked_m == &m || home::pass_on(m, g);
  if (g->locked_m == &m) return true;
  start_locked_m(m, g);
  return false;
}

[[gnu::always_inline]] inline void run_goroutine_g0(M& m, G* g) noexcept {
  if (g->locked_m != nullptr && !may_run_locked(m, g)) return;
  if (!g->started && !attach_cached_stack(*m.p, g)) attach_from_depot(*m.p, g);
  vole_run_g(&m, switch_to(m, g));
}

// The one place where a runnable is run. Afterwards the M may have no P.
[[gnu::always_inline]] inline void run_g0(M& m, runnable* r) noexcept {
  switch (r->kind) {
    [[likely]] case runnable_kind::goroutine: return run_goroutine_g0(m, as_g(r));
    case runnable_kind::stand_in: return strict::run_stand_in_g0(m, *static_cast<stand_in*>(r));
  }
}

}  // namespace

void m_main(void* arg) noexcept {
  thread_maker::arrived();
  M& m = *static_cast<M*>(arg);
  m.thread = os::this_thread();
  m.tid.store(os::thread_id(), relaxed);  // published with the P
  arch::set_this_m(&m);
  m.exceptions = arch::this_thread_exceptions();
  m.random.seed(os::random_seed() ^ (m.id << 32));
  if (!os::make_alternate_stack(&m.alternate_stack))
    fatal("out of memory: no room for a thread's signal stack. A higher memory limit would help");
  os::sharpen_timeouts();
  strict::thread_begins(m);
  arch::san_thread_begins(m.san);
  trace::end_quiet(m.hot);
  acquire_p(m, m.next_p);
  m.next_p = nullptr;
  while (runnable* const r = next_g0(m)) run_g0(m, r);
  end_m(m);
}

void end_m(M& m) noexcept {
  if (m.p != nullptr) hand_off(release_p(m));
  if (!m.must_end) home::shut(m);
  trace::thread_ends(m);
  strict::thread_ends(m);
  arch::set_this_m(nullptr);
  os::drop_alternate_stack(m.alternate_stack);
  if (m.must_end) return say_farewell();  // the ender joins the thread
  os::detach_thread(os::this_thread());
  sched.lock.acquire();
  --sched.m_count;
  set_status(m, m_status::free);
  // Not ours any more; nobody's, if a goroutine may still name it as its home.
  if (m.home.goroutines.load(relaxed) == 0) sched.free_ms.push(&m);
  sched.lock.release();
}

}  // namespace vole::rt
