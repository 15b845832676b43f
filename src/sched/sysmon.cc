#include "sched/sysmon.h"

#include <algorithm>

#include "os/os.h"
#include "sched/contention.h"
#include "sched/deadlock.h"
#include "sched/env.h"
#include "sched/idle.h"
#include "sched/invite.h"
#include "sched/midwife.h"
#include "sched/netpoll.h"
#include "sched/pace.h"
#include "sched/retake.h"
#include "sched/schedtrace.h"
#include "sched/slices.h"
#include "sched/stall.h"
#include "sched/state.h"
#include "sched/strict.h"
#include "sched/timers.h"
#include "sched/world.h"

namespace vole::rt::sysmon {
namespace {

constexpr std::int64_t kLookAgain = 10 * kMilli;  // all Ps are idle, but not yet all threads
constexpr std::int64_t kTimerSlack = 500 * kMicro;  // not worth a call: it looks soon

constexpr std::int64_t kBusyFor = 2 * kMilli;     // with what the poller brought, without a rest
constexpr std::int64_t kVerdict = 250 * kMilli;   // how long one about the network is held
constexpr int kNods = 2;                          // naps in a row in which nothing was started

struct office {
  atomic<std::uint32_t> bell{0};     // futex word; rung to wake it
  atomic<bool> asleep{false};        // every P is idle, and it sleeps; set under L
  atomic<std::int64_t> until{0};     // when it will look by itself; 0: it looks, naps or sleeps
  atomic<std::int64_t> pace{0};      // how long it sleeps between looks
  atomic<bool> closing{false};
  os::thread thread;
  note begun;
  sighting seen[kMaxProcs];
  std::int64_t trimmed_at, counted_at, stormed_at, asked_at, aged_at;
  std::int64_t longest_wait;         // of a thief, beside any P, at this look
  std::int64_t global_since;         // something waits in the global queue beside an idle P; 0: not
  std::uint64_t starts;              // sched.starts at the last nap
  int nods;                          // naps since then
  bool network_came;                 // it has put goroutines into the global queue
};
constinit office desk{};

void ring() noexcept {
  desk.bell.fetch_add(1, std::memory_order_release);
  futex_wake(&desk.bell, 1);
}

sight see(const P& p) noexcept {
  return {p.owed.load(relaxed), p.switches.get(), p.rests.get(),         p.spawned.get(),
          p.vain.load(relaxed), has_loot(p),      p.polled.load(relaxed)};
}

void invite_thief(P& p, trial judged) noexcept {
  p.invites.store(true, seq_cst);  // S1
  submit_on_trial(p, judged);
}

// Work lies there while a P is idle: behind a goroutine that runs on, or for long: pay. True: the
// former.
bool pay_owed(P& p, sighting& last, std::int64_t now) noexcept {
  if (sched.idle_p_count.load(relaxed) == 0 || p.status.load(relaxed) != p_status::running) {
    last = passed_over(last, p.spawned.get());
    return false;
  }
  const sight there = see(p);
  const opinion o = judge(there, last, kBusyFor << sched.polled_vain.load(relaxed), now);
  if (o.waits > desk.longest_wait) desk.longest_wait = o.waits;
  const bool stuck = (o.stands && there.loot) || (o.owes && retake::expose(&p));
  const bool due = stuck || o.overdue;
  last = due ? after_call(there, now) : o.seen;
  if (o.stands) p.polled.store(false, relaxed);  // it does not look at the network soon
  if (due) invite_thief(p, there.polled ? trial::polled : trial::work);
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
    desk.global_since = 0;
  } else if (desk.global_since == 0) {
    desk.global_since = now;
  } else if (now - desk.global_since >= (desk.network_came ? kStuck : desk.longest_wait)) {
    desk.global_since = 0;
    submit();
  }
}

slices::demand wanted(std::int64_t now) noexcept {
  if (sched.global.size_hint() == 0) desk.network_came = false;
  if (desk.network_came || first_of_all_timers() <= now) return slices::demand::urgent;
  return sched.global.size_hint() != 0 ? slices::demand::work : slices::demand::none;
}

// One look at everything. Returns the most alarming finding.
slices::finding look(std::int64_t now) noexcept {
  using slices::finding;
  finding most = finding::nothing;
  const slices::demand others = wanted(now);
  desk.longest_wait = kThiefWaits;
  const std::uint32_t n = sched.procs.load(seq_cst);
  for (std::uint32_t i = 0; i < n; ++i) {
    P& p = *sched.p_at(i);
    const finding f = slices::look(p, others, now);
    if (f > most) most = f;
    if (pay_owed(p, desk.seen[i], now) && most == finding::nothing) most = finding::suspicion;
  }
  pay_global(now);
  return most;
}

// VOLE_DEBUG=storm. Returns how long until the next look.
std::int64_t storm(std::int64_t now, std::int64_t delay) noexcept {
  const std::int64_t period = sched.settings.storm_us * kMicro;
  if (period == 0 || strict::on()) return delay;  // there it is the slice
  std::int64_t due = desk.stormed_at + period - now;
  if (due <= 0) {
    slices::evict_all();
    desk.stormed_at = now;
    due = period;
  }
  return delay < due ? delay : due;
}

std::size_t trim_stacks(std::int64_t now) noexcept {
  if (arch::kThreadSanitizer) return 0;  // the sanitizer's records lie in the pages
  if (now - desk.trimmed_at < kSecond) return 1;
  desk.trimmed_at = now;
  return depot::trim();
}

// [3]: at most once a second, unless the program or the environment said how many.
void follow_cpu_count(std::int64_t now) noexcept {
  if (sched.settings.procs != 0 || now - desk.counted_at < kSecond) return;
  desk.counted_at = now;
  const auto n = static_cast<std::uint32_t>(os::cpu_count());
  if (n == sched.procs.load(seq_cst) || n > kMaxProcs) return;
  world::stop("max_procs");
  if (sched.settings.procs == 0) world::resize(n);
  world::start();
}

// That a second thread for the network does not pay is not held for ever: the processors may be free
// by now, and only a trial can tell.
void age_verdicts(std::int64_t now) noexcept {
  const std::uint32_t vain = sched.polled_vain.load(relaxed);
  if (vain != 0 && now - desk.aged_at < kVerdict) return;
  desk.aged_at = now;
  if (vain != 0) sched.polled_vain.store(vain - 1, relaxed);
}

// A P lies idle for want of a thread: perhaps there can be one now.
void ask_for_threads(std::int64_t now) noexcept {
  if (!sched.unmanned.load(relaxed) || now - desk.asked_at < kLookAgain) return;
  desk.asked_at = now;
  sched.unmanned.store(false, seq_cst);
  submit();
}

// Sleeps until the bell has rung since `rung`, at most for `most`, and until there is a line to write
// or somebody to watch.
void sleep(std::uint32_t rung, std::int64_t most) noexcept {
  if (const std::int64_t due = std::min(schedtrace::due(), stall::due()); due != kNoTimer) {
    const std::int64_t left = due - os::now_ns();
    most = left < most ? (left > 0 ? left : 0) : most;
  }
  if (most == kNoTimer) return futex_wait(&desk.bell, rung);
  futex_wait_for(&desk.bell, rung, most);
}

// Likewise, and hardly longer than until a timer is due. Whoever adds an earlier one rings: it writes
// the timer, then reads `until`; we write `until`, then read the timers.
void sleep_until_timer(std::uint32_t rung, std::int64_t now, std::int64_t most) noexcept {
  desk.until.store(now + most, seq_cst);
  std::int64_t due = look_at_timers(now) - now;
  if (due < kGather) due = kGather;
  sleep(rung, most < due ? most : due);
}

// Every P is idle: sleep until one is taken; look again after a second if stacks are still warm, or
// if nobody but the program's own threads can end the silence.
void sleep_while_idle(std::uint32_t rung, std::int64_t now) noexcept {
  const bool warm = trim_stacks(now) != 0;
  sched.lock.acquire();
  const bool all_idle = sched.idle_p_count.load(relaxed) == sched.procs.load(relaxed);
  desk.asleep.store(all_idle, relaxed);
  sched.lock.release();
  if (!all_idle) return;
  const deadlock::sight sight = deadlock::look();
  const bool settled = !sched.unmanned.load(relaxed) && sight != deadlock::sight::unsettled;
  const bool again = warm || sight == deadlock::sight::others;
  sleep(rung, !settled ? kLookAgain : again ? kSecond : kNoTimer);
  desk.asleep.store(false, relaxed);
}

bool all_idle() noexcept {
  return sched.idle_p_count.load(seq_cst) == sched.procs.load(seq_cst) &&
         !sched.stopping.load(seq_cst);
}

// Every P is idle, but something was started since the last nap, or not long ago: it will be again,
// and nobody need wake us then. Timers are the poller's meanwhile, and of whoever leaves that.
bool nap(std::uint32_t rung) noexcept {
  const std::uint64_t starts = sched.starts.load(relaxed);
  desk.nods = starts == desk.starts ? desk.nods + 1 : 1;
  desk.starts = starts;
  if (desk.nods > kNods) return false;
  desk.pace.store(kLongest, seq_cst);     // before the look: who blocks reads it after taking a P
  if (all_idle()) sleep(rung, kLongest);  // `until` is 0: a timer is not worth a call
  return true;
}

// Strict mode: no thread can be had, perhaps because a captive is in the loader; or a P lies idle
// for want of one while captives wait for a P.
bool captives_hold_up(std::int64_t now) noexcept {
  return sched.captives.load(relaxed) != 0 &&
         (sched.unmanned.load(relaxed) || midwife::is_held_up(now));
}

void sysmon_main(void*) noexcept {
  os::sharpen_timeouts();
  desk.begun.wake();
  std::int64_t delay = kFirst;
  int quiet = 0;
  for (;;) {
    const std::uint32_t rung = desk.bell.load(std::memory_order_acquire);  // pairs: ring
    if (desk.closing.load(seq_cst)) return;
    desk.until.store(0, seq_cst);  // it looks: no need to ring
    const std::int64_t now = os::now_ns();
    sched.coarse_now.store(now, relaxed);
    if (captives_hold_up(now)) strict::parole_all();
    ask_for_threads(now);
    age_verdicts(now);
    schedtrace::look(now);
    stall::look(now);
    if (all_idle()) {
      if (nap(rung)) {
        trim_stacks(now);
        follow_cpu_count(now);
        continue;
      }
      sleep_while_idle(rung, now);
      delay = kFirst;
      quiet = 0;
      continue;
    }
    delay = next_delay(look(now), delay, quiet);
    desk.pace.store(delay, relaxed);
    trim_stacks(now);
    follow_cpu_count(now);
    if (poll_for_others(now, kNetworkPatience)) {
      desk.network_came = true;
      nobody_sees_to_network();  // or it would not have been left to us
    }
    sleep_until_timer(rung, now, storm(now, delay));
  }
}

}  // namespace

int start() noexcept {
  desk.closing.store(false, relaxed);
  desk.trimmed_at = desk.counted_at = desk.stormed_at = desk.asked_at = desk.aged_at = os::now_ns();
  for (sighting& s : desk.seen) s = {};
  desk.network_came = false;
  desk.global_since = 0;
  desk.nods = 0;
  slices::begin();
  schedtrace::begin(os::now_ns());
  stall::begin();
  os::thread_spec spec;
  spec.main = &sysmon_main;
  spec.name = "vole-sysmon";
  spec.block_signals = true;
  desk.begun.clear();
  const int error = os::create_thread(&desk.thread, spec);
  if (error == 0) desk.begun.sleep();  // whoever lets captives go must not be held up by one
  return error;
}

void stop() noexcept {
  desk.closing.store(true, seq_cst);
  ring();
  os::join_thread(desk.thread);
}

void wake_by(std::int64_t when) noexcept {
  if (when < desk.until.load(seq_cst) - kTimerSlack) ring();
}

void hurry(std::int64_t slower_than) noexcept {
  if (desk.pace.load(relaxed) <= slower_than) return;
  desk.pace.store(0, relaxed);
  ring();
}

void wake_locked() noexcept {
  if (!desk.asleep.load(relaxed)) return;
  desk.asleep.store(false, relaxed);
  ring();
}

bool is_asleep() noexcept { return desk.asleep.load(relaxed); }
std::uint32_t times_rung() noexcept { return desk.bell.load(relaxed); }

}  // namespace vole::rt::sysmon
