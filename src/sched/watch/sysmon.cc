#include "sched/watch/sysmon.h"

#include <algorithm>

#include "os/os.h"
#include "sched/policy/contention.h"
#include "sched/watch/deadlock.h"
#include "sched/work/env.h"
#include "sched/work/idle.h"
#include "sched/policy/invite.h"
#include "sched/hold/thread_maker.h"
#include "sched/work/netpoll.h"
#include "sched/policy/pace.h"
#include "sched/hold/retake.h"
#include "sched/report/schedtrace.h"
#include "sched/policy/slices.h"
#include "sched/watch/stall.h"
#include "sched/state.h"
#include "sched/hold/strict.h"
#include "sched/wait/timers.h"
#include "sched/hold/world.h"

namespace vole::rt::sysmon {
namespace {

constexpr std::int64_t kUnsettledCheck = 10 * kMilli;  // all Ps are idle, but not yet all threads
constexpr std::int64_t kTimerSlack = 500 * kMicro;  // not worth a call: it looks soon

constexpr std::int64_t kBusyFor = 2 * kMilli;     // with what the poller brought, without a rest
constexpr std::int64_t kAssessmentLasts = 250 * kMilli;  // how long one about the network counts
constexpr int kMostIdleLooks = 2;  // idle looks in a row between which nothing was started

struct sysmon_state {
  atomic<std::uint32_t> wake_word{0};  // futex word; changed to wake it
  atomic<bool> asleep{false};        // every P is idle, and it sleeps; set under L
  atomic<std::int64_t> until{0};  // when it will look by itself; 0: it looks, or sleeps without end
  atomic<std::int64_t> pace{0};      // how long it sleeps between looks
  atomic<bool> closing{false};
  os::thread thread;
  note begun;
  p_history seen[kMaxProcs];
  std::int64_t trimmed_at, counted_at, stormed_at, asked_at, aged_at;
  std::int64_t longest_wait;         // of a thief, beside any P, at this look
  std::int64_t global_since;         // something waits in the global queue beside an idle P; 0: not
  std::uint64_t starts;              // sched.starts at the last idle look
  int idle_looks;                    // looks since then, while every P was idle
  bool network_came;                 // it has put goroutines into the global queue
};
constinit sysmon_state own{};

void rouse() noexcept {
  own.wake_word.fetch_add(1, std::memory_order_release);
  futex_wake(&own.wake_word, 1);
}

p_view see(const P& p) noexcept {
  return {p.ready_next.load(relaxed), p.switches.get(), p.rests.get(),         p.spawned.get(),
          p.wasted_wakes.load(relaxed), has_stealable(p),      p.polled.load(relaxed)};
}

void invite_thief(P& p, probation kind) noexcept {
  p.invites.store(true, seq_cst);  // S1
  submit_on_probation(p, kind);
}

// Work waits at p while another P is idle: behind a goroutine that runs on, or for long. Then a thread
// is woken for it. True: it is the former.
bool wake_deferred(P& p, p_history& last, std::int64_t now) noexcept {
  if (sched.idle_p_count.load(relaxed) == 0 || p.status.load(relaxed) != p_status::running) {
    last = passed_over(last, p.spawned.get());
    return false;
  }
  const p_view there = see(p);
  const opinion o = decide(there, last, kBusyFor << sched.polled_wasted_wakes.load(relaxed), now);
  if (o.waits > own.longest_wait) own.longest_wait = o.waits;
  const bool stuck = (o.stands && there.stealable) || (o.defers && retake::expose(&p));
  const bool due = stuck || o.overdue;
  last = due ? after_call(there, now) : o.seen;
  if (o.stands) p.polled.store(false, relaxed);  // it does not look at the network soon
  if (due) invite_thief(p, there.polled ? probation::polled : probation::work);
  return stuck;
}

// A timer that is due and that nobody has fired: its P is busy. With an idle P beside, a thief
// will: the poller's M, or one that is woken; else the P's own M must.
void serve_timers(P& p, std::int64_t now) noexcept {
  if (sched.idle_p_count.load(relaxed) != 0)
    return sched.last_poll.load(seq_cst) != 0 ? submit() : tell_poller();
  M* const m = p.m.load(seq_cst);
  if (m != nullptr && first_timer(p.id) <= now) m->hot.attention.store(1, seq_cst);
}

// When the next timer of a busy P is due.
std::int64_t look_at_timers(std::int64_t now) noexcept {
  std::int64_t next = kNoTimer;
  sched.timer_mask.for_each(sched.procs.load(seq_cst), [&](std::uint32_t i) {
    const std::int64_t first = first_timer(i);
    if (first <= now) {
      serve_timers(*sched.p_at(i), now);
    } else if (first < next) {
      next = first;
    }
  });
  return next;
}

// A P retired, and left its work to the others: are they seeing to it?
void pay_global(std::int64_t now) noexcept {
  const bool waits = sched.idle_p_count.load(relaxed) != 0 && sched.global.size_hint() != 0;
  if (!waits) {
    own.global_since = 0;
  } else if (own.global_since == 0) {
    own.global_since = now;
  } else if (now - own.global_since >= (own.network_came ? kStuck : own.longest_wait)) {
    own.global_since = 0;
    submit();
  }
}

slices::demand wanted(std::int64_t now) noexcept {
  if (sched.global.size_hint() == 0) own.network_came = false;
  if (own.network_came || first_of_all_timers() <= now) return slices::demand::urgent;
  return sched.global.size_hint() != 0 ? slices::demand::work : slices::demand::none;
}

// One look at everything. Returns the most alarming finding.
slices::finding look(std::int64_t now) noexcept {
  using slices::finding;
  finding most = finding::nothing;
  const slices::demand others = wanted(now);
  own.longest_wait = kThiefWaits;
  const std::uint32_t n = sched.procs.load(seq_cst);
  for (std::uint32_t i = 0; i < n; ++i) {
    P& p = *sched.p_at(i);
    const finding f = slices::look(p, others, now);
    if (f > most) most = f;
    if (wake_deferred(p, own.seen[i], now) && most == finding::nothing) most = finding::suspicion;
  }
  pay_global(now);
  return most;
}

// VOLE_DEBUG=storm. Returns how long until the next look.
std::int64_t storm(std::int64_t now, std::int64_t delay) noexcept {
  const std::int64_t period = sched.settings.storm_us * kMicro;
  if (period == 0 || strict::on()) return delay;  // there it is the slice
  std::int64_t due = own.stormed_at + period - now;
  if (due <= 0) {
    slices::evict_all();
    own.stormed_at = now;
    due = period;
  }
  return delay < due ? delay : due;
}

std::size_t trim_stacks(std::int64_t now) noexcept {
  if (arch::kThreadSanitizer) return 0;  // the sanitizer's records lie in the pages
  if (now - own.trimmed_at < kSecond) return 1;
  own.trimmed_at = now;
  return depot::trim();
}

// [3]: at most once a second, unless the program or the environment said how many.
void follow_cpu_count(std::int64_t now) noexcept {
  if (sched.settings.procs != 0 || now - own.counted_at < kSecond) return;
  own.counted_at = now;
  const auto n = static_cast<std::uint32_t>(os::cpu_count());
  if (n == sched.procs.load(seq_cst) || n > kMaxProcs) return;
  world::stop("max_procs");
  if (sched.settings.procs == 0) world::resize(n);
  world::start();
}

// The assessment that a second thread for the network does not pay does not last for ever: the
// processors may be free by now, and only a new wake-up can tell.
void age_assessments(std::int64_t now) noexcept {
  const std::uint32_t wasted_wakes = sched.polled_wasted_wakes.load(relaxed);
  if (wasted_wakes != 0 && now - own.aged_at < kAssessmentLasts) return;
  own.aged_at = now;
  if (wasted_wakes != 0) sched.polled_wasted_wakes.store(wasted_wakes - 1, relaxed);
}

// A P lies idle for want of a thread: perhaps there can be one now.
void ask_for_threads(std::int64_t now) noexcept {
  if (!sched.unmanned.load(relaxed) || now - own.asked_at < kUnsettledCheck) return;
  own.asked_at = now;
  sched.unmanned.store(false, seq_cst);
  submit();
}

// Sleeps until the wake word is no longer `seen_word`, at most for `most`, or until there is a line to
// write or a goroutine to watch.
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
  std::int64_t due = look_at_timers(now) - now;
  if (due < kGather) due = kGather;
  sleep(seen_word, most < due ? most : due);
}

// Every P is idle: sleep until one is taken; look again after a second if stacks are still warm, or
// if nobody but the program's own threads can end the silence.
void sleep_while_idle(std::uint32_t seen_word, std::int64_t now) noexcept {
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

bool all_idle() noexcept {
  return sched.idle_p_count.load(seq_cst) == sched.procs.load(seq_cst) &&
         !sched.stopping.load(seq_cst);
}

// Every P is idle, but something was started since the last idle look, or not long ago: a P will
// probably be busy again soon, and then nobody need wake us. Meanwhile the M in the poller fires
// timers.
bool look_while_idle(std::uint32_t seen_word) noexcept {
  const std::uint64_t starts = sched.starts.load(relaxed);
  own.idle_looks = starts == own.starts ? own.idle_looks + 1 : 1;
  own.starts = starts;
  if (own.idle_looks > kMostIdleLooks) return false;
  own.pace.store(kLongest, seq_cst);  // before the look: a call that blocks reads it with a P taken
  if (all_idle()) sleep(seen_word, kLongest);  // `until` is 0: a timer is not worth a call
  return true;
}

// Strict mode: no thread can be had, perhaps because a captured thread is in the loader; or a P
// lies idle for want of one while captured threads wait for a P.
bool captured_hold_up(std::int64_t now) noexcept {
  return sched.captured_ms.load(relaxed) != 0 &&
         (sched.unmanned.load(relaxed) || thread_maker::is_held_up(now));
}

void sysmon_main(void*) noexcept {
  os::sharpen_timeouts();
  own.begun.wake();
  std::int64_t delay = kFirst;
  int quiet = 0;
  for (;;) {
    const std::uint32_t seen_word = own.wake_word.load(std::memory_order_acquire);  // pairs: rouse
    if (own.closing.load(seq_cst)) return;
    own.until.store(0, seq_cst);  // it looks: no need to wake it
    const std::int64_t now = os::now_ns();
    sched.coarse_now.store(now, relaxed);
    if (captured_hold_up(now)) strict::release_all_captured();
    ask_for_threads(now);
    age_assessments(now);
    schedtrace::look(now);
    stall::look(now);
    if (all_idle()) {
      if (look_while_idle(seen_word)) {
        trim_stacks(now);
        follow_cpu_count(now);
        continue;
      }
      sleep_while_idle(seen_word, now);
      delay = kFirst;
      quiet = 0;
      continue;
    }
    delay = next_delay(look(now), delay, quiet);
    own.pace.store(delay, relaxed);
    trim_stacks(now);
    follow_cpu_count(now);
    if (poll_for_others(now, kNetworkPollEvery)) {
      own.network_came = true;
      nobody_sees_to_network();  // or it would not have been left to us
    }
    sleep_until_timer(seen_word, now, storm(now, delay));
  }
}

}  // namespace

int start() noexcept {
  own.closing.store(false, relaxed);
  own.trimmed_at = own.counted_at = own.stormed_at = own.asked_at = own.aged_at = os::now_ns();
  for (p_history& s : own.seen) s = {};
  own.network_came = false;
  own.global_since = 0;
  own.idle_looks = 0;
  slices::begin();
  schedtrace::begin(os::now_ns());
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
