#include "sched/wake_policy/policy.h"

#include "os/os.h"
#include "sched/state.h"
#include "sched/wake_policy/state.h"

namespace vole::rt::wake_policy {
namespace {

constexpr std::size_t kSpareMs = 4;  // asleep for ever, beside one for each P

}  // namespace

constinit network_words of_network{};

void count_wasted(P& p) noexcept {
  const std::uint8_t wasted = p.wakes.wasted.load(relaxed);
  if (wasted < kMostWasted) p.wakes.wasted.store(static_cast<std::uint8_t>(wasted + 1), relaxed);
  p.wakes.invites.store(false, relaxed);
}

void is_woken(M& m, const reason& why) noexcept {
  m.wakes.why = why;
  m.wakes.called_at = 0;  // until it comes awake
  m.wakes.woken_at = why.kind == probation::polled ? os::now_ns() : 0;
}

void comes_awake(M& m) noexcept {
  m.wakes.called_at = m.wakes.why.kind != probation::none ? os::now_ns() : 0;
  if (m.wakes.why.kind != probation::polled) return;
  m.wakes.cpu = os::thread_cpu_ns();
  m.wakes.sleeps = os::thread_sleeps();
}

void assess_wake_up(M& m, std::int64_t now) noexcept {
  if (now - m.wakes.called_at < kWorthwhile) return count_wasted(*m.wakes.why.for_whom);
  m.wakes.why.for_whom->wakes.wasted.store(0, relaxed);
  m.p->wakes.wasted.store(0, relaxed);
}

void stole(M& m, P& victim) noexcept {
  victim.wakes.invites.store(false, relaxed);
  if (m.wakes.called_at != 0) m.wakes.why.for_whom = &victim;
  m.wakes.stole_at = os::now_ns();
  m.wakes.stole_from = &victim;
  m.wakes.stole_p = m.p;
  m.wakes.stole_switches = m.p->switches.get();
}

void assess_theft(M& m, std::int64_t now) noexcept {
  const std::int64_t took = now - m.wakes.stole_at;
  m.wakes.stole_at = 0;
  if (m.p != m.wakes.stole_p) return;
  const auto runs = static_cast<std::int64_t>(m.p->switches.get() - m.wakes.stole_switches);
  if (took < runs * kShortRun) count_wasted(*m.wakes.stole_from);
}

void looks_for_theft_g0(M& m) noexcept {
  if (m.wakes.stole_at != 0) assess_theft(m, os::now_ns());
}

std::int64_t surplus_patience() noexcept {
  return std::int64_t{sched.settings.thread_idle_ms} * 1000 * 1000;
}

bool too_many(std::size_t idle_ms) noexcept {
  return sched.settings.thread_idle_ms != 0 && idle_ms > sched.procs.load(relaxed) + kSpareMs;
}

void reset() noexcept {
  of_network.wasted.store(0, relaxed);
  of_network.cpu.store(0, relaxed);
  of_network.wall.store(0, relaxed);
}

}  // namespace vole::rt::wake_policy
