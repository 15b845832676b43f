#include "sched/work/idle.h"

#include "os/os.h"
#include "poll/poll.h"
#include "sched/work/env.h"
#include "sched/work/home.h"
#include "sched/work/netpoll.h"
#include "sched/state.h"
#include "sched/watch/sysmon.h"
#include "sched/hold/thread.h"
#include "sched/wait/p_timers.h"
#include "sched/wake_policy/policy.h"
#include "trace/emit.h"

namespace vole::rt {
namespace {

// Timers that follow each other closely are fired together: as much later as the kernel makes every
// sleep of a plain thread. Measured, 200,000 sleepers within a second: each of them was a wake-up.
// Many sleepers wait longer: while every wake-up fires several, the next is put off for twice as long, up
// to kGatherMany, and if it fires many, up to kGatherVeryMany. A wake-up costs 10 to 25 us of processor
// time here, each sleeper that it fires some 0.6, less if there are more: their misses overlap.
constexpr std::int64_t kGatherMany = 4 * kGather, kGatherVeryMany = 8 * kGather;
constexpr std::uint64_t kMany = 4, kVeryMany = 16;

// The M that waits in the poller; one at a time.
struct rhythm {
  atomic<std::int64_t> gather{kGather};
  atomic<std::uint64_t> fired{0};  // when it last went to wait
};
constinit rhythm beat;

// Until when to sleep for a timer that is due then, if somebody was awake at `last`.
std::int64_t gathered(std::int64_t due, std::int64_t last) noexcept {
  const std::uint64_t fired = timers_fired();
  const std::uint64_t came = fired - beat.fired.load(relaxed);
  beat.fired.store(fired, relaxed);
  const bool many = came >= kMany && due < last + kGather;
  const std::int64_t most = !many ? kGather : came < kVeryMany ? kGatherMany : kGatherVeryMany;
  std::int64_t gather = 2 * beat.gather.load(relaxed);
  if (gather > most) gather = most;
  beat.gather.store(gather, relaxed);
  return due < last + gather ? last + gather : due;
}

// The M is the one that waits; somebody last looked at `last`. Returns what is complete.
woken_list wait_in_poller(M& m, std::int64_t last) noexcept {
  const std::int64_t until = first_of_all_timers();  // D5: after last_poll = 0
  sched.poll_until.store(until, seq_cst);
  poll::completions done;
  set_status(m, m_status::polling);
  std::int64_t timeout = -1;
  if (until != kNoTimer) {
    timeout = gathered(until, last) - os::now_ns();
    if (timeout < 0) timeout = 0;
  }
  // The M that was here before us may have used up the break that ends the runtime.
  if (sched.ending.load(seq_cst) || home::has_mail_now(m)) timeout = 0;
  trace::become_quiet(m.hot);
  if (until != kNoTimer || poll::open_count() != 0) poll::wait(timeout, done);
  trace::end_quiet(m.hot);
  set_status(m, m_status::awake);  // before the waiters' status changes: see deadlock.cc
  const std::int64_t now = os::now_ns();
  sched.coarse_now.store(now, relaxed);
  sched.poll_until.store(0, seq_cst);
  sched.last_poll.store(now, seq_cst);
  return wake_complete(done);
}

// Out of the poller. False: there is no P; the goroutines go to the global queue.
bool take_p(M& m, const woken_list& list) noexcept {
  sched.lock.acquire();
  P* const p = pop_idle_p_locked(m.last_p);
  if (p == nullptr && list.count != 0)
    sched.global.append_locked(list.first, list.count);  // I6: no P is idle
  if (p != nullptr) sched.count_start_locked();
  sched.lock.release();
  if (p == nullptr) return false;
  acquire_p(m, p);
  // Not by searching: a searcher that finds something calls the next one, for each of them.
  if (list.count == 0) fire_all_due_timers(m, os::now_ns());
  sysmon::wake_by(first_of_all_timers());  // nobody waits for them now
  if (list.count != 0) {
    if (sched.idle_p_count.load(relaxed) + 1 < sched.procs.load(relaxed)) wake_policy::comes_from_poller(m);
    inject_owner(m, list);
  }
  return true;
}

}  // namespace

bool worth_polling() noexcept {
  return poll::open_count() != 0 || first_of_all_timers() != kNoTimer;
}

bool rest_g0(M& m) noexcept {
  if (wake_policy::network_is_seen_to()) {
    sysmon::wake_by(first_of_all_timers());
    return stop_m(m);
  }
  for (;;) {
    if (sched.ending.load(seq_cst) || !worth_polling()) return stop_m(m);
    const std::int64_t last = sched.last_poll.exchange(0, seq_cst);
    if (last == 0) {  // somebody waits there already
      tell_poller();
      return stop_m(m);
    }
    const woken_list list = wait_in_poller(m, last);
    if (list.count == 0 && !home::has_mail(m) && first_of_all_timers() > os::now_ns()) continue;  // told to look again
    if (take_p(m, list)) return true;
    sysmon::wake_by(os::now_ns());  // every P is busy, with a timer due: it will see
    return stop_m(m);
  }
}

bool must_keep_polling_locked() noexcept {
  return sched.idle_p_count.load(relaxed) + 1 == sched.procs.load(relaxed) &&
         sched.last_poll.load(seq_cst) != 0 && worth_polling();
}

void tell_poller() noexcept {
  if (sched.last_poll.load(seq_cst) != 0) return;
  const std::int64_t until = sched.poll_until.load(seq_cst);
  if (until == 0 || first_of_all_timers() < until) poll::interrupt();
}

}  // namespace vole::rt
