#include "sched/life/call.h"

#include "base/likely.h"
#include "sched/life/enter.h"
#include "sched/work/home.h"
#include "sched/park.h"
#include "sched/state.h"
#include "sched/watch/sysmon.h"
#include "trace/emit.h"

namespace vole::rt {
namespace {

constexpr std::uint64_t kOneCall = std::uint64_t{1} << 32;

std::uint64_t next_call(const M& m) noexcept {
  return (m.call.load(relaxed) / kOneCall + 1) * kOneCall;
}

std::uint32_t mark_of(const M& m) noexcept {
  return static_cast<std::uint32_t>(m.call.load(relaxed));
}

// Tells a trace that a call begins. Inside.
[[gnu::noinline]] void tell_begin(M& m) noexcept {
  trace::call_begins(m, {reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)),
                         *static_cast<std::byte* const*>(__builtin_frame_address(0))});
}
// Tells a trace that the call which it was told of does not begin after all. User context.
void take_back_begin(M& m) noexcept {
  if (!trace::is_traced(m) || !m.trace.in_call) return;
  enter_or_look(m);
  trace::call_ends(m);
  m.hot.leave();
}

// Attends first, then begins the call. The goroutine may be on another thread afterwards, or in another
// slice: the mark is made anew.
[[gnu::noinline]] void begin_after_attending() noexcept;

[[gnu::always_inline]] inline void mark(M& m, const P& p) noexcept {
  m.call.store(next_call(m) | (p.schedtick.load(relaxed) + 1), relaxed);
}

[[gnu::always_inline]] inline void leave_marked(M& m) noexcept {
  if (try_leave(&m)) [[likely]] return;
  m.call.store(next_call(m), relaxed);
  begin_after_attending();
}

// The P is away. If somebody only looks at it, or has stopped the world, it comes back as it was.
std::uint32_t mark_without_p(M& m) noexcept {
  holding hold(m.retake_lock);
  const P* const p = m.p != nullptr ? m.p : m.away;
  if (!m.zombie && trace::is_traced(m)) tell_begin(m);
  return p != nullptr && !m.zombie ? p->schedtick.load(relaxed) + 1 : 1;
}

[[gnu::noinline]] void begin_without_p(M& m) noexcept {
  m.call.store(next_call(m) | mark_without_p(m), relaxed);
  leave_marked(m);
}

// Somebody waits for our P: wakes sysmon.
[[gnu::noinline]] void ring_and_leave(M& m) noexcept {
  sysmon::hurry(sysmon::kCallMost);
  leave_marked(m);
}

[[gnu::always_inline]] inline bool somebody_waits_for(const P& p) noexcept {
  return !likely(p.ready_next.load(relaxed) == nullptr) || !likely(p.runnext.load(relaxed) == nullptr) ||
         p.ring.size() != 0;
}

// Inside for a moment, or the runtime could end under us and take the P's record with it.
[[gnu::always_inline]] inline void begin(M& m) noexcept {
  if (const P* const p = m.hot.enter()) [[likely]] {
    mark(m, *p);
    if (somebody_waits_for(*p)) return ring_and_leave(m);
    return leave_marked(m);
  }
  begin_without_p(m);
}

// Like begin(), and tells the trace.
[[gnu::noinline]] void begin_told(M& m) noexcept {
  if (const P* const p = m.hot.enter()) {
    mark(m, *p);
    if (trace::is_traced(m)) tell_begin(m);
    return somebody_waits_for(*p) || home::has_mail(m) ? ring_and_leave(m) : leave_marked(m);
  }
  begin_without_p(m);
}

void begin_after_attending() noexcept {
  take_back_begin(*this_m());
  attend();
  begin_told(*this_m());
}

// Asked for attention, locked to its goroutine, or traced.
[[gnu::noinline]] void begin_unplainly(M& m) noexcept {
  if (m.hot.attention.load(relaxed) != 0) return begin_after_attending();
  begin_told(m);
}

}  // namespace

void begin_call() noexcept {
  M* const m = this_m();
  if (!likely(m != nullptr)) return;
  if (!likely(m->hot.in_rt.load(relaxed) == 0)) entered_twice();
  if (!likely(both_zero(m->hot.attention, m->hot.unplain))) return begin_unplainly(*m);
  begin(*m);
}

bool is_in_call(const M& m) noexcept {
  const std::uint32_t mark = mark_of(m);
  const P* const p = m.hot.p.load(relaxed);
  return mark != 0 && (p == nullptr || p->schedtick.load(relaxed) + 1 == mark);
}

// A goroutine without a P may be on its way in while we read.
[[gnu::no_sanitize_thread, gnu::noinline]] const G* goroutine_on(const M& m) noexcept {
  return m.curg;
}

bool is_in_call(const G& g) noexcept {
  bool found = false;
  m_slab.for_each([&](const M* m) {
    found |= m->alive.load(std::memory_order_acquire) && goroutine_on(*m) == &g && is_in_call(*m);
  });
  return found;
}

void forget_stale_mark(M& m, const P& p) noexcept {
  const std::uint32_t mark = mark_of(m);
  if (mark != 0 && mark != p.schedtick.load(relaxed) + 1)
    m.call.store(m.call.load(relaxed) / kOneCall * kOneCall, relaxed);
}

void end_call() noexcept {
  M* const m = this_m();
  if (!likely(m != nullptr)) return;
  m->call.store(next_call(*m), relaxed);
  if (m->hot.p.load(relaxed) == nullptr || trace::is_traced(*m)) [[unlikely]] regain();
}

}  // namespace vole::rt
