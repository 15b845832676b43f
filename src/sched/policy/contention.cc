#include "sched/policy/contention.h"

#include "os/os.h"
#include "sched/work/env.h"

namespace vole::rt {
namespace {

constexpr std::int64_t kWindow = 100 * 1000;     // ns
constexpr std::int64_t kJustNow = 400 * 1000;    // ns
constexpr std::int64_t kWorthwhile = 20 * 1000;  // ns; a wake-up costs the waker 6 us
constexpr std::int64_t kShortRun = 250;          // ns; its lines take as long to change cores
constexpr std::int64_t kProbation = 1000 * 1000;  // ns; after that a thread is assessed anyway
constexpr std::int64_t kTrialMost = 4 * kProbation;
constexpr std::int64_t kWakeUp = 60 * 1000;      // ns; from the call to the first instruction
constexpr std::uint8_t kMostWasted = kManyWasted + 8;

// A wake-up for p's work brought nothing. (A hint: an update lost does no harm.)
void count_wasted_wake(P& p) noexcept {
  const std::uint8_t wasted_wakes = p.wasted_wakes.load(relaxed);
  if (wasted_wakes < kMostWasted) p.wasted_wakes.store(static_cast<std::uint8_t>(wasted_wakes + 1), relaxed);
  p.invites.store(false, relaxed);
}

// From now on p's goroutines run in turn.
void lose_helper(P& p) noexcept {
  if (p.wasted_wakes.load(relaxed) < kManyWasted) p.wasted_wakes.store(kManyWasted, relaxed);
  count_wasted_wake(p);
}

// Another M that has a P, and has met others just now, too: it will run our work. A loop on the other P
// would not, and a plain thread is no rival that could run it.
P* rival_of_locked(const M& m) noexcept {
  const std::int64_t since = os::now_ns() - kJustNow;
  const std::uint32_t n = sched.procs.load(relaxed);
  for (std::uint32_t i = 0; i < n; ++i) {
    P* const p = sched.p_at(i);
    const M* const other = p->m.load(seq_cst);
    if (other != nullptr && other != &m && other->contended_at.load(relaxed) > since) return p;
  }
  return nullptr;
}

// The last ones count most, and the longer ones more. (Hints: an update lost does no harm.)
void blend(atomic<std::int64_t>& mean, std::int64_t add) noexcept {
  mean.store(mean.load(relaxed) / 8 * 7 + add, relaxed);
}

// For how much of the time since it was called did the thread run? One that slept in a call was not
// short of processors.
void assess_polled(M& m) noexcept {
  const std::int64_t late = m.called_at - m.woken_at - kWakeUp;  // more than on an idle machine
  const std::int64_t wall = os::now_ns() - m.called_at + (late > 0 ? late : 0);
  const bool slept = os::thread_sleeps() != m.probation_sleeps;
  const std::int64_t ran = slept ? wall : os::thread_cpu_ns() - m.probation_cpu;
  // None counts for ever: it may have run one goroutine for a minute, or lost its P for one.
  const std::int64_t counts = wall < kTrialMost ? wall : kTrialMost;
  blend(sched.polled_wall, counts);
  blend(sched.polled_cpu, ran >= wall ? counts : counts * (ran / 1000) / (wall / 1000 + 1));
  const bool pays = sched.polled_cpu.load(relaxed) >= sched.polled_wall.load(relaxed) / 4 * 3;
  const std::uint32_t wasted_wakes = sched.polled_wasted_wakes.load(relaxed);
  sched.polled_wasted_wakes.store(pays ? 0 : wasted_wakes < kMostPolledWasted ? wasted_wakes + 1 : wasted_wakes, relaxed);
}

}  // namespace

void note_contention(M& m) noexcept {
  if (m.locked_g != nullptr) return;  // its M does not come to find_g0
  const std::int64_t now = os::now_ns();
  m.contended_at.store(now, relaxed);
  if (now - m.contended_since > kWindow) {
    m.contended_since = now;
    m.contended = 0;
  }
  if (++m.contended == kTooMuch) m.hot.attention.store(1, seq_cst);  // to g0, when we leave
}

bool retire_g0(M& m) noexcept {
  if (m.contended < kTooMuch) return false;
  m.contended = 0;
  holding hold(sched.lock);
  if (m.spinning || sched.stopping.load(relaxed)) return false;
  P* const rival = rival_of_locked(m);
  if (rival == nullptr) return false;
  lose_helper(*rival);
  lose_helper(*m.p);
  m.called_at = 0;
  shipped_env env;
  parking::retire_locked(env, m);
  return true;
}

void note_theft(M& m, P& victim) noexcept {
  victim.invites.store(false, relaxed);
  if (m.called_at != 0) m.probation_p = &victim;
  m.stole_at = os::now_ns();
  m.stole_from = &victim;
  m.stole_p = m.p;
  m.stole_switches = m.p->switches.get();
}

void assess_theft(M& m) noexcept {
  if (m.stole_at == 0) return;
  const std::int64_t took = os::now_ns() - m.stole_at;
  m.stole_at = 0;
  if (m.p != m.stole_p) return;
  const auto runs = static_cast<std::int64_t>(m.p->switches.get() - m.stole_switches);
  if (took < runs * kShortRun) count_wasted_wake(*m.stole_from);
}

void begin_probation(M& m) noexcept {
  m.called_at = m.on_probation != probation::none ? os::now_ns() : 0;
  if (m.on_probation != probation::polled) return;
  m.probation_cpu = os::thread_cpu_ns();
  m.probation_sleeps = os::thread_sleeps();
}

void called_by_network(M& m) noexcept {
  m.on_probation = probation::polled;
  m.woken_at = os::now_ns();
  begin_probation(m);
}

bool gives_way_g0(M& m) noexcept {
  if (m.called_at == 0 || m.on_probation != probation::polled || m.spinning) return false;
  if (os::now_ns() - m.woken_at < kProbation) return false;
  assess_polled(m);
  called_by_network(m);
  return !polled_pays() && sched.idle_p_count.load(relaxed) + 1 < sched.procs.load(relaxed);
}

void nobody_sees_to_network() noexcept {
  const std::uint32_t n = sched.procs.load(acquire);
  for (std::uint32_t i = 0; i < n; ++i) sched.p_at(i)->polled.store(false, relaxed);
}

bool network_is_seen_to() noexcept {
  if (polled_pays()) return false;
  const std::uint32_t n = sched.procs.load(acquire);  // without a P: a resize may be about
  for (std::uint32_t i = 0; i < n; ++i)
    if (sched.p_at(i)->polled.load(relaxed) && !sched.idle_mask.test(i)) return true;
  return false;
}

void assess_wake_up(M& m) noexcept {
  if (m.called_at == 0) return;
  if (m.on_probation == probation::polled) {
    assess_polled(m);
  } else if (os::now_ns() - m.called_at < kWorthwhile) {
    count_wasted_wake(*m.probation_p);
  } else {
    m.probation_p->wasted_wakes.store(0, relaxed);
    m.p->wasted_wakes.store(0, relaxed);
  }
  m.called_at = 0;
}

}  // namespace vole::rt
