#include "sched/watch/sysmon.h"

#include <algorithm>

#include "os/os.h"
#include "sched/policy/pace.h"
#include "sched/policy/slices.h"
#include "sched/report/schedtrace.h"
#include "sched/state.h"
#include "sched/wait/p_timers.h"
#include "sched/wake_policy/look.h"
#include "sched/watch/chores.h"
#include "sched/watch/deadlock.h"
#include "sched/watch/due_timers.h"
#include "sched/watch/stall.h"
#include "sched/work/netpoll.h"

namespace vole::rt::sysmon {
namespace {

constexpr std::int64_t kTimerSlack = 500 * kMicro;  // not worth a call: it looks soon
constexpr int kMostIdleLooks = 2;  // idle looks in a row between which nothing was started

struct sysmon_state {
  // ── others read or write ──
  atomic<std::uint32_t> wake_word{0};  // futex word; changed to wake it
  atomic<bool> asleep{false};          // every P is idle, and it sleeps; set under L
  atomic<std::int64_t> until{0};  // when it will look by itself; 0: it looks, or sleeps without end
  atomic<std::int64_t> pace{0};   // how long it sleeps between looks
  atomic<bool> closing{false};
  os::thread thread;
  note begun;
  // ── its own ──
  std::int64_t delay;    // until the next look at busy Ps
  int quiet;             // so many looks brought nothing
  std::uint64_t starts;  // sched.starts at the last idle look
  int idle_looks;        // looks since then, while every P was idle
  bool network_came;     // it has put goroutines into the global queue
};
constinit sysmon_state own{};

void rouse() noexcept {
  own.wake_word.fetch_add(1, std::memory_order_release);
  futex_wake(&own.wake_word, 1);
}

// ── its sleeps ──

// Until the wake word is no longer `seen_word`, at most for `most`, or until there is a line to write
// or a goroutine to watch.
void sleep(std::uint32_t seen_word, std::int64_t most) noexcept {
  if (const std::int64_t due = std::min(schedtrace::due(), stall::due()); due != kNoTimer) {
    const std::int64_t left = due - os::now_ns();
    most = left < most ? (left > 0 ? left : 0) : most;
  }
  if (most == kNoTimer) return futex_wait(&own.wake_word, seen_word);
  futex_wait_for(&own.wake_word, seen_word, most);
}

// The same, and hardly longer than until a timer is due. A thread that adds an earlier one wakes us: it
// writes the timer, then reads `until`; we write `until`, then read the timers.
void sleep_until_timer(std::uint32_t seen_word, std::int64_t now, std::int64_t most) noexcept {
  own.until.store(now + most, seq_cst);
  std::int64_t due = serve_due_timers(now) - now;
  if (due < kGather) due = kGather;
  sleep(seen_word, most < due ? most : due);
}

// Every P is idle: sleep until one is taken; look again after a second if stacks are still warm, or
// if nobody but the program's own threads can end the silence.
void sleep_while_idle(std::uint32_t seen_word, std::int64_t now) noexcept {
  own.delay = kFirst;
  own.quiet = 0;
  const bool warm = trim_stacks(now) != 0;
  sched.lock.acquire();
  const bool all_idle = sched.idle_p_count.load(relaxed) == sched.procs.load(relaxed);
  own.asleep.store(all_idle, relaxed);
  sched.lock.release();
  if (!all_idle) return;
  const deadlock::answer answer = deadlock::look();
  const bool settled = !sched.unmanned.load(relaxed) && answer != deadlock::answer::unsettled;
  const bool again = warm || answer == deadlock::answer::others;
  sleep(seen_word, !settled ? kUnsettledCheck : again ? kSecond : kNoTimer);
  own.asleep.store(false, relaxed);
}

// ── its looks ──

bool all_idle() noexcept {
  return sched.idle_p_count.load(seq_cst) == sched.procs.load(seq_cst) &&
         !sched.stopping.load(seq_cst);
}

// Every P is idle, but something was started since the last idle look, or not long ago: a P will
// probably be busy again soon, and then nobody need wake us. Meanwhile the M in the poller fires
// timers. False: nothing was started.
bool look_while_idle(std::uint32_t seen_word, std::int64_t now) noexcept {
  const std::uint64_t starts = sched.starts.load(relaxed);
  own.idle_looks = starts == own.starts ? own.idle_looks + 1 : 1;
  own.starts = starts;
  if (own.idle_looks > kMostIdleLooks) return false;
  own.pace.store(kLongest, seq_cst);  // before the look: a call that blocks reads it with a P taken
  if (all_idle()) sleep(seen_word, kLongest);  // `until` is 0: a timer is not worth a call
  trim_stacks(now);
  follow_cpu_count(now);
  return true;
}

slices::demand wanted(std::int64_t now) noexcept {
  if (sched.global_hint() == 0) own.network_came = false;
  if (own.network_came || first_of_all_timers() <= now) return slices::demand::urgent;
  return sched.global_hint() != 0 ? slices::demand::work : slices::demand::none;
}

// One look at every P. Returns the most alarming finding.
slices::finding look_at_ps(std::int64_t now) noexcept {
  using slices::finding;
  finding most = finding::nothing;
  const slices::demand others = wanted(now);
  wake_policy::begin_look();
  const std::uint32_t n = sched.procs.load(seq_cst);
  for (std::uint32_t i = 0; i < n; ++i) {
    P& p = *sched.p_at(i);
    const finding f = slices::look(p, others, now);
    if (f > most) most = f;
    if (wake_policy::look_at(p, now) && most == finding::nothing) most = finding::suspicion;
  }
  wake_policy::look_at_global(own.network_came, now);
  return most;
}

void look_at_network(std::int64_t now) noexcept {
  if (!poll_for_others(now, kNetworkPollEvery)) return;
  own.network_came = true;
  wake_policy::nobody_sees_to_network();  // or it would not have been left to us
}

void look_while_busy(std::uint32_t seen_word, std::int64_t now) noexcept {
  own.delay = next_delay(look_at_ps(now), own.delay, own.quiet);
  own.pace.store(own.delay, relaxed);
  trim_stacks(now);
  follow_cpu_count(now);
  look_at_network(now);
  sleep_until_timer(seen_word, now, storm(now, own.delay));
}

void sysmon_main(void*) noexcept {
  os::sharpen_timeouts();
  own.begun.wake();
  for (;;) {
    const std::uint32_t seen_word = own.wake_word.load(std::memory_order_acquire);  // pairs: rouse
    if (own.closing.load(seq_cst)) return;
    own.until.store(0, seq_cst);  // it looks: no need to wake it
    const std::int64_t now = os::now_ns();
    sched.coarse_now.store(now, relaxed);
    release_captured(now);
    ask_for_threads(now);
    wake_policy::age(now);
    schedtrace::look(now);
    stall::look(now);
    if (!all_idle()) {
      look_while_busy(seen_word, now);
    } else if (!look_while_idle(seen_word, now)) {
      sleep_while_idle(seen_word, now);
    }
  }
}

}  // namespace

int start() noexcept {
  const std::int64_t now = os::now_ns();
  own.closing.store(false, relaxed);
  own.delay = kFirst;
  own.quiet = 0;
  own.idle_looks = 0;
  own.network_came = false;
  begin_chores(now);
  wake_policy::begin_looks(now);
  slices::begin();
  schedtrace::begin(now);
  stall::begin();
  os::thread_spec spec;
  spec.main = &sysmon_main;
  spec.name = "vole-sysmon";
  spec.block_signals = true;
  own.begun.clear();
  const int error = os::create_thread(&own.thread, spec);
  if (error == 0) own.begun.sleep();  // a captured thread must not hold up the one that releases it
  return error;
}

void stop() noexcept {
  own.closing.store(true, seq_cst);
  rouse();
  os::join_thread(own.thread);
}

void wake_by(std::int64_t when) noexcept {
  if (when < own.until.load(seq_cst) - kTimerSlack) rouse();
}

void hurry(std::int64_t slower_than) noexcept {
  if (own.pace.load(relaxed) <= slower_than) return;
  own.pace.store(0, relaxed);
  rouse();
}

void wake_locked() noexcept {
  if (!own.asleep.load(relaxed)) return;
  own.asleep.store(false, relaxed);
  rouse();
}

bool is_asleep() noexcept { return own.asleep.load(relaxed); }
std::uint32_t times_roused() noexcept { return own.wake_word.load(relaxed); }

}  // namespace vole::rt::sysmon
