#include "sched/life/switch.h"

#include <utility>

#include "base/likely.h"
#include "os/os.h"
#include "sched/life/enter.h"
#include "sched/work/env.h"
#include "sched/life/exit.h"
#include "sched/work/find.h"
#include "sched/work/home.h"
#include "sched/park.h"
#include "sched/life/records.h"
#include "sched/state.h"
#include "sched/wait/p_timers.h"
#include "sched/work/wake.h"
#include "trace/emit.h"

namespace vole::rt {
namespace {

// Under TSan.
void start_history(G& g) noexcept {
  if constexpr (race::on) {
    const std::size_t most = os::mapping_budget() / 2;
    if (g.history.starts() <= most) return;
    fatal(sentence() << "more than " << most
                     << " goroutines are alive. Under ThreadSanitizer each takes two mappings, and the "
                        "kernel allows a process vm.max_map_count of them. Raise that (sysctl -w "
                        "vm.max_map_count=1000000), or have fewer goroutines at once");
  }
}

// Saves the departing goroutine's exception state and restores the arriving one's. Mostly both are
// empty; a G's copy is empty unless it departed while it handled an exception.
inline void swap_exceptions(M& m, G* from, G* to) noexcept {
  arch::exception_globals& live = *m.exceptions;
  const bool brings = to != nullptr && to->has_exceptions;
  if (live.empty() && !brings) [[likely]] return;
  if (from != nullptr && !live.empty()) {
    keep_exceptions(*from, live);
  }
  live = brings ? take_exceptions(*to) : arch::exception_globals{};
}

// There is mail for this thread (sched/work/home.h): g0 takes it out.
[[gnu::always_inline]] inline bool is_told(const M& m) noexcept {
  return (m.hot.unplain.load(relaxed) & hot_words<P>::kMail) != 0;
}

// A yield may return at once unless somebody else has anything to do: a request, mail, global work,
// the own queue.
bool nothing_else_to_do(M& m) noexcept {
  return m.hot.attention.load(relaxed) == 0 && !is_told(m) && sched.global_hint() == 0 &&
         m.p->ring.size() == 0 && m.p->runnext.load(relaxed) == nullptr &&
         m.p->ready_next.load(relaxed) == nullptr;
}

// Inlined into the door's decision, which every switch goes through.
[[gnu::always_inline]] inline void* aim_plainly(M& m, P& p, G* g) noexcept {
  m.curg = g;
  set_status(*g, g_status::runnable, g_status::running);
  p.switches.add_owner();
  arch::san_aim(m.san, g->stack.lo, g->history.fiber());
  return g->sp.load(relaxed);
}

[[gnu::always_inline]] inline void* aim_at(M& m, G* g) noexcept {
  swap_exceptions(m, m.curg, g);
  return aim_plainly(m, *m.p, g);
}

[[gnu::noinline]] void* aim_at_g0(M& m) noexcept {
  swap_exceptions(m, m.curg, nullptr);
  m.curg = nullptr;
  arch::san_aim(m.san, nullptr, nullptr);
  return m.g0_sp;
}

// The fair tick [9]: g0 looks at the global queue and at the timers.
[[gnu::always_inline]] inline bool others_are_due(const P& p) noexcept {
  return is_fair_tick(p) && p.ready_next.load(relaxed) == nullptr &&
         p.runnext.load(relaxed) == nullptr &&
         (sched.global_hint() != 0 || first_timer(p.id) != kNoTimer);
}

// The M has a P and may run any goroutine here: it is not locked to one, and nobody asks for it.
[[gnu::always_inline]] inline bool is_free(const M& m) noexcept {
  return likely(m.locked_g == nullptr) && likely(m.hot.attention.load(relaxed) == 0);
}
// The same, and there is no trace that must be told.
[[gnu::always_inline]] inline bool is_free_plainly(const M& m) noexcept {
  return likely(both_zero(m.hot.attention, m.hot.unplain));
}

// A picked goroutine that has no stack yet, or is locked to a thread: can it run right here? What is no
// goroutine cannot.
[[gnu::noinline]] G* settle(M& m, runnable* r) noexcept {
  if (!r->locked) [[likely]] {
    G* const g = as_g(r);
    if (g->started || attach_cached_stack(*m.p, g)) return g;
  } else if (r->homed && home::is_home(m, *as_g(r))) {
    return as_g(r);
  }
  m.picked = r;
  return nullptr;
}

// The next goroutine of the own queue, ready to run right here; nullptr: ask g0 (m.picked is then what
// was taken already, if anything). An unstarted G comes with a stack, unless `spare` fits it.
[[gnu::always_inline]] inline G* pick(M& m, const stack* spare) noexcept {
  P* const p = m.p;
  if (p == nullptr || !is_free(m) || is_told(m)) return nullptr;
  runnable* r = take_ready_next_owner(*p);
  if (r == nullptr) {
    if (others_are_due(*p)) return nullptr;
    r = take_next_owner(*p);
    if (r == nullptr) return nullptr;
  }
  if (!r->locked) [[likely]] {  // a goroutine
    G* const g = as_g(r);
    if (g->started) return g;
    if (spare != nullptr && spare->bytes == g->stack.bytes) return g;
  }
  return settle(m, r);
}

// Most switches, without a call, while nobody handles an exception: to the goroutine that was readied
// last or, for a yield, to the ring's oldest. nullptr: pick() must look further.
[[gnu::always_inline]] inline bool runs_plainly(const runnable& r) noexcept {
  return likely(r.started && !r.locked && !r.has_exceptions);
}

[[gnu::always_inline]] inline G* take_ready_next_plainly(M& m, P& p) noexcept {
  runnable* const r = p.ready_next.load(relaxed);
  if (r != nullptr && runs_plainly(*r) && is_free_plainly(m) && m.exceptions->empty()) [[likely]] {
    p.ready_next.store(nullptr, relaxed);
    return as_g(r);
  }
  return nullptr;
}

// (Whether it runs plainly is known only when it is out of the ring.)
[[gnu::always_inline]] inline runnable* take_oldest_plainly(M& m, P& p) noexcept {
  if (!is_free_plainly(m) || !m.exceptions->empty()) [[unlikely]] return nullptr;
  if (!likely(p.ready_next.load(relaxed) == nullptr) || !likely(p.runnext.load(relaxed) == nullptr) ||
      p.ring.newest_is_marked_owner() || !likely(!is_fair_tick(p)))
    return nullptr;
  runnable* const r = p.ring.pop_owner();
  if (likely(r != nullptr)) bump_tick(p);
  return r;
}

[[gnu::noinline]] vole_next depart(M& m) noexcept {
  G* const g = m.curg;
  G* const next = pick(m, nullptr);
  if (trace::is_traced(m)) [[unlikely]]
    trace::departs(m, *g, trace::leaving::block, next, g->why.load(relaxed), g->sp.load(relaxed));
  return {next != nullptr ? aim_at(m, next) : aim_at_g0(m), &m};
}

[[gnu::always_inline]] inline vole_next wait_at(M& m, wait_reason why, void* sp) noexcept {
  G* const g = m.curg;
  g->history.before_wait();
  g->sp.store(sp, relaxed);
  g->why.store(why, relaxed);
  g->waiting_since.store(sched.coarse_now.load(relaxed), relaxed);
  P* const p = m.p;
  if (p != nullptr) [[likely]] {
    set_status(*g, g_status::running, g_status::waiting);
    if (G* const next = take_ready_next_plainly(m, *p)) [[likely]] return {aim_plainly(m, *p, next), &m};
  }
  return depart(m);
}

bool yielded_to_ring(G* g, void* p) noexcept {
  set_status(*g, g_status::running, g_status::runnable);
  put_back_owner(*static_cast<P*>(p), g);
  return true;
}

bool yielded_to_global(G* g, void*) noexcept {
  set_status(*g, g_status::running, g_status::runnable);
  push_global_owing(g);
  submit_local(*this_m()->p);
  return true;
}

[[gnu::noinline]] void tell_yield(M& m, G* g, G* next) noexcept {
  const bool asked = m.hot.attention.load(relaxed) != 0;
  trace::departs(m, *g, asked ? trace::leaving::preempt : trace::leaving::yield, next,
                 wait_reason::none, nullptr);
}

// picked: out of the ring already.
[[gnu::noinline]] vole_next yield_slowly(M& m, void* sp, runnable* picked) noexcept {
  G* const g = m.curg;
  if (picked == nullptr && nothing_else_to_do(m)) {
    arch::san_aim(m.san, g->stack.lo, g->history.fiber());
    return {sp, &m};
  }
  g->history.before_wait();
  g->sp.store(sp, relaxed);
  G* const next = picked != nullptr ? settle(m, picked) : pick(m, nullptr);
  if (trace::is_traced(m)) [[unlikely]] tell_yield(m, g, next);
  if (next != nullptr) {
    leave_behind(m, &yielded_to_ring, m.p, g);
    return {aim_at(m, next), &m};
  }
  leave_behind(m, &yielded_to_global, nullptr, g);
  return {aim_at_g0(m), &m};
}

// In a function of its own: the usual way then needs no frame.
[[gnu::noinline]] vole_next yield_without_p(void* sp) noexcept {
  return yield_slowly(*reenter(), sp, nullptr);
}

}  // namespace

void* switch_to(M& m, G* g) noexcept {
  if (trace::is_traced(m)) [[unlikely]] trace::runs(m, *g);
  return aim_at(m, g);
}

void attach_stack(G* g, const stack& s) noexcept {
  g->stack = s;
  start_history(*g);
  arch::san_fresh_stack(s.lo, s.bytes);
  g->sp.store(arch::make_first_frame(s.top()), relaxed);
  g->started = true;
}

bool attach_cached_stack(P& p, G* g) noexcept {
  if (p.stacks == 0 || p.stack_cache[p.stacks - 1].bytes != g->stack.bytes) return false;
  attach_stack(g, p.stack_cache[--p.stacks]);
  return true;
}

}  // namespace vole::rt

using namespace vole;      // NOLINT: the C entry points below
using namespace vole::rt;  // NOLINT: belong to this room

extern "C" vole_next vole_decide_park(commit_fn commit, void* arg, std::uint32_t reason,
                                      void* sp) noexcept {
  M& m = *this_m();
  leave_behind(m, commit, arg, m.curg);
  return wait_at(m, static_cast<wait_reason>(reason), sp);
}

extern "C" vole_next vole_decide_wait(std::uint32_t reason, void* sp) noexcept {
  const vole_next next = wait_at(*this_m(), static_cast<wait_reason>(reason), sp);
  lock_order::releasing(lock_rank::object);  // the door's next store
  return next;
}

extern "C" vole_next vole_decide_yield(void* sp) noexcept {
  M& m = *arch::this_m();
  if (!try_enter(&m)) [[unlikely]] return yield_without_p(sp);
  P& p = *m.p;
  runnable* const oldest = take_oldest_plainly(m, p);
  if (oldest == nullptr || !runs_plainly(*oldest)) [[unlikely]] return yield_slowly(m, sp, oldest);
  G* const next = as_g(oldest);
  G* const g = m.curg;
  g->history.before_wait();
  g->sp.store(sp, relaxed);
  if constexpr (arch::kThreadSanitizer) {
    leave_behind(m, &yielded_to_ring, &p, g);
  } else {
    set_status(*g, g_status::running, g_status::runnable);
    const auto [word, back] = p.ring.begin_push_owner(g);
    m.yield_word = word;
    m.yield_value = back;
  }
  return {aim_plainly(m, p, next), &m};
}

// The last one: no return from it.
extern "C" vole_next vole_goroutine_finish() noexcept {
  this_m()->curg->abandon = nullptr;  // the callable is gone; the runtime may end while we enter
  end_locals();
  M& m = *enter();
  G* const g = m.curg;
  set_status(*g, g_status::running, g_status::dead);
  m.p->finished.add_owner();
  m.ends_with_g = m.locked_g != nullptr;
  G* const next = pick(m, &g->stack);
  if (trace::is_traced(m)) [[unlikely]]
    trace::departs(m, *g, trace::leaving::end, next, wait_reason::none, nullptr);
  if (next != nullptr && !next->started) {
    next->stack = g->stack;
    start_history(*next);
    next->started = true;
    arch::san_fresh_stack(next->stack.lo, next->stack.bytes);
    aim_at(m, next);
    arch::san_succeed(m.san);
    recycle_g(m, g);
    leave(&m);
    return {nullptr, nullptr};
  }
  leave_behind(m, &commit_end, nullptr, g);
  return {next != nullptr ? aim_at(m, next) : aim_at_g0(m), &m};
}

extern "C" void vole_wake_sleeper(atomic<std::uint32_t>* word) noexcept { wake_sleeper_of(word); }
// The refused goroutine is made ready in its own name, not in that of the one that runs now.
extern "C" void vole_refused(M* m, G* g) noexcept {
  if (trace::is_traced(*m)) [[unlikely]] trace::unblocked_by_nobody(*g);
  ready_untold(m, g);
}
