#include "sched/call.h"

#include "base/likely.h"
#include "sched/enter.h"
#include "sched/park.h"
#include "sched/state.h"
#include "sched/sysmon.h"

namespace vole::rt {
namespace {

constexpr std::uint64_t kOneCall = std::uint64_t{1} << 32;

std::uint64_t next_call(const M& m) noexcept {
  return (m.call.load(relaxed) / kOneCall + 1) * kOneCall;
}

// Somebody waits for our P.
[[gnu::noinline]] void ring_and_leave(M& m) noexcept {
  sysmon::hurry(sysmon::kCallMost);
  leave(&m);
}

// Inside for a moment, or the runtime could end under us and take the P's record with it.
[[gnu::always_inline]] inline void begin(M& m) noexcept {
  if (const P* const p = m.hot.enter()) [[likely]] {
    m.call.store(next_call(m) | (p->schedtick.load(relaxed) + 1), relaxed);
    if (!likely(p->owed.load(relaxed) == nullptr) || !likely(p->runnext.load(relaxed) == nullptr) ||
        p->ring.size() != 0)
      return ring_and_leave(m);
  }
  leave(&m);
}

// If we are to yield, better now: the mark is this thread's.
[[gnu::noinline]] void begin_after_attending() noexcept {
  attend();
  begin(*this_m());
}

}  // namespace

void begin_call() noexcept {
  M* const m = this_m();
  if (!likely(m != nullptr)) return;
  if (m->hot.attention.load(relaxed) != 0) [[unlikely]] return begin_after_attending();
  begin(*m);
}

void end_call() noexcept {
  M* const m = this_m();
  if (!likely(m != nullptr)) return;
  m->call.store(next_call(*m), relaxed);
  if (m->hot.p.load(relaxed) == nullptr) [[unlikely]] regain();
}

}  // namespace vole::rt
