#include "sched/call.h"

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

}  // namespace

void begin_call() noexcept {
  checkpoint();  // if we are to yield: better now, the mark is this thread's
  M* const m = this_m();
  if (m == nullptr) return;
  // Inside, or the runtime could end under us and take the P's record with it.
  if (const P* const p = m->hot.enter()) {
    m->call.store(next_call(*m) | (p->schedtick.load(relaxed) + 1), relaxed);
    if (p->owed.load(relaxed) != nullptr || p->runnext.load(relaxed) != nullptr ||
        p->ring.size() != 0)
      sysmon::hurry(sysmon::kCallMost);
  }
  leave(m);
}

void end_call() noexcept {
  M* const m = this_m();
  if (m == nullptr) return;
  m->call.store(next_call(*m), relaxed);
  if (m->hot.p.load(relaxed) == nullptr) [[unlikely]] regain();
}

}  // namespace vole::rt
