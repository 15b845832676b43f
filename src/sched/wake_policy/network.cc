// Threads that are woken for what the poller brought: do they get a processor?
#include "os/os.h"
#include "sched/state.h"
#include "sched/wake_policy/look.h"
#include "sched/wake_policy/state.h"

namespace vole::rt::wake_policy {
namespace {

constexpr std::int64_t kProbation = 1000 * 1000;  // ns; after that a thread is assessed anyway
constexpr std::int64_t kProbationMost = 4 * kProbation;
constexpr std::int64_t kWakeUp = 60 * 1000;  // ns; from the call to the first instruction

// The last ones count most, and the longer ones more.
void blend(atomic<std::int64_t>& mean, std::int64_t add) noexcept {
  mean.store(mean.load(relaxed) / 8 * 7 + add, relaxed);
}

// For how much of the time since it was called did the thread run? One that slept in a call was not
// short of processors.
void assess(const M& m) noexcept {
  const m_words& w = m.wakes;
  const std::int64_t late = w.called_at - w.woken_at - kWakeUp;  // more than on an idle machine
  const std::int64_t wall = os::now_ns() - w.called_at + (late > 0 ? late : 0);
  const bool slept = os::thread_sleeps() != w.sleeps;
  assess_polled(slept ? wall : os::thread_cpu_ns() - w.cpu, wall);
}

}  // namespace

void assess_polled(std::int64_t ran, std::int64_t wall) noexcept {
  // None counts for ever: it may have run one goroutine for a minute, or lost its P for one.
  const std::int64_t counts = wall < kProbationMost ? wall : kProbationMost;
  blend(of_network.wall, counts);
  blend(of_network.cpu, ran >= wall ? counts : counts * (ran / 1000) / (wall / 1000 + 1));
  const bool pays = of_network.cpu.load(relaxed) >= of_network.wall.load(relaxed) / 4 * 3;
  const std::uint32_t wasted = of_network.wasted.load(relaxed);
  of_network.wasted.store(pays ? 0 : wasted < kMostPolledWasted ? wasted + 1 : wasted, relaxed);
}

void age_assessments(std::int64_t& aged_at, std::int64_t now) noexcept {
  const std::uint32_t wasted = of_network.wasted.load(relaxed);
  if (wasted != 0 && now - aged_at < kAssessmentLasts) return;
  aged_at = now;
  if (wasted != 0) of_network.wasted.store(wasted - 1, relaxed);
}

bool polled_pays() noexcept { return of_network.wasted.load(relaxed) == 0; }

void comes_from_poller(M& m) noexcept {
  m.wakes.why.kind = probation::polled;
  m.wakes.woken_at = os::now_ns();
  comes_awake(m);
}

bool gives_way_g0(M& m) noexcept {
  if (m.wakes.called_at == 0 || m.wakes.why.kind != probation::polled || m.spinning) return false;
  if (os::now_ns() - m.wakes.woken_at < kProbation) return false;
  assess(m);
  comes_from_poller(m);
  return !polled_pays() && sched.idle_p_count.load(relaxed) + 1 < sched.procs.load(relaxed);
}

void finds_nothing_g0(M& m) noexcept {
  if (m.wakes.called_at == 0) return;
  if (m.wakes.why.kind == probation::polled) {
    assess(m);
  } else {
    assess_wake_up(m, os::now_ns());
  }
  m.wakes.called_at = 0;
}

bool network_is_seen_to() noexcept {
  if (polled_pays()) return false;
  const std::uint32_t n = sched.procs.load(acquire);  // without a P: a resize may be about
  for (std::uint32_t i = 0; i < n; ++i)
    if (sched.p_at(i)->wakes.has_batch.load(relaxed) && !sched.idle_mask.test(i)) return true;
  return false;
}

void nobody_sees_to_network() noexcept {
  const std::uint32_t n = sched.procs.load(acquire);
  for (std::uint32_t i = 0; i < n; ++i) sched.p_at(i)->wakes.has_batch.store(false, relaxed);
}

}  // namespace vole::rt::wake_policy
