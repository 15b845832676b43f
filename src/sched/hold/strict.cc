#include "sched/hold/strict.h"

#include "arch/sanitizer.h"
#include "base/fatal.h"
#include "os/os.h"
#include "sched/hold/thread.h"
#include "sched/run/lifecycle.h"
#include "sched/state.h"

namespace vole::rt::strict {
namespace {

constexpr std::int64_t kMicro = 1000, kMilli = 1000 * kMicro;
constexpr std::int64_t kSlice = 10 * kMilli;
constexpr std::int64_t kSignalWithin = 5 * kSlice;  // the signal is blocked, or finds us elsewhere

int signal_number() noexcept { return static_cast<int>(sched.settings.preempt_signal); }

bool claim(M& m) noexcept {
  if (m.captured.exchange(0, seq_cst) == 0) return false;
  sched.captured_ms.fetch_sub(1, seq_cst);
  return true;
}

}  // namespace

bool on() noexcept { return sched.settings.strict && !arch::kThreadSanitizer; }

void begin() noexcept {
  if (!on()) return;
  if (!os::install_preempt_handler(signal_number(), &on_slice_signal))
    fatal(
        "cannot install the handler for preemption: sigaction was refused. Does a sandbox (seccomp) "
        "forbid it? VOLE_DEBUG=strictprocs=0 goes without");
}

void thread_begins(M& m) noexcept {
  m.stand_in.of = &m;
  m.capturable.store(false, relaxed);
  m.slice_timer = -1;
  m.slice_p = nullptr;
  if (!on()) return;
  const std::int64_t storm = sched.settings.storm_us * kMicro;
  const int error = os::start_slice_timer(&m.slice_timer, signal_number(),
                                          storm != 0 ? storm : kSlice, storm != 0);
  if (error == 0) {
    m.capturable.store(true, relaxed);
  } else {
    m.slice_timer = -1;  // RLIMIT_SIGPENDING: this one is evicted, as without strict mode
  }
}

void wind_up(M& m) noexcept {
  if (sched.settings.storm_us != 0 && m.slice_timer >= 0)
    os::wind_up_slice_timer(m.slice_timer, sched.settings.storm_us * kMicro);
}

void thread_ends(M& m) noexcept {
  if (m.slice_timer >= 0) os::stop_slice_timer(m.slice_timer);
  m.slice_timer = -1;
}

bool sees_to(const M& m, std::int64_t cpu) noexcept {
  return on() && m.capturable.load(relaxed) && cpu < kSignalWithin;
}

void run_stand_in_g0(M& m, stand_in& s) noexcept {
  s.queued.store(false, seq_cst);  // pairs: become_captured
  if (claim(*s.of)) give_p_g0(m, *s.of);
}

void release_all_captured() noexcept {
  if (sched.captured_ms.load(seq_cst) == 0) return;
  m_slab.for_each([](M* m) {
    if (m->captured.load(seq_cst) != 0 && claim(*m)) m->park.wake();
  });
}

void before_fork() noexcept {
  sched.forks.fetch_add(1, seq_cst);  // pairs: capture
  const undisturbed here;
  if (!on() || !lifecycle::visit()) return;
  release_all_captured();
  lifecycle::end_visit();
}

void after_fork() noexcept { sched.forks.fetch_sub(1, seq_cst); }

}  // namespace vole::rt::strict
