#include "sched/wait/p_timers.h"

#include <utility>

#include "base/fatal.h"
#include "os/os.h"
#include "poll/poll.h"
#include "sched/work/env.h"
#include "sched/work/find.h"
#include "sched/state.h"
#include "sched/hold/strict.h"
#include "sched/watch/sysmon.h"
#include "sched/work/wake.h"
#include "trace/emit.h"

namespace vole::rt {

using namespace base;

namespace {

constinit timer_set timer_sets[kMaxProcs];
constinit atomic<std::uint32_t> generation{1};
constinit atomic<std::uint64_t> fired{0};

// I9. A timer that comes first on its timer_set has been added.
void see_to_it(M* m, std::int64_t when) noexcept {
  if (sched.last_poll.load(seq_cst) == 0) {  // somebody waits in the poller
    const std::int64_t until = sched.poll_until.load(seq_cst);
    if (until == 0 || until > when) poll::interrupt();
    return;
  }
  // A guest wakes an M: if that finds nothing to do, it becomes the one that waits. An M that holds a P
  // will wait itself when it has nothing to do. While all Ps are busy, sysmon looks.
  if (m == nullptr) submit();
  sysmon::wake_by(when);
}

void added(M* m, timer_set::added a, std::int64_t when) noexcept {
  if (a == timer_set::added::refused)
    fatal("out of memory: no room for a timer. A higher memory limit would help");
  if (a == timer_set::added::in_front) see_to_it(m, when);
}

// The timer_set they are added to. Its bit stays set until the P dies: a bit that is set without need
// costs a look, no more.
timer_set& timer_set_of(std::uint32_t p) noexcept {
  if (!sched.timer_mask.test(p)) sched.timer_mask.set(p);
  return timer_sets[p];
}

// The heap has had the first line of each record fetched. The rest is first asked for, for all of
// them: the page walks overlap only if nothing else comes between.
void rise(M& m, const risen& up) noexcept {
  P& p = *m.p;
  for (std::size_t i = 0; i < up.n; ++i) prefetch(*up.g[i]);
  if (trace::is_traced(m)) [[unlikely]]
    for (std::size_t i = 0; i < up.n; ++i) trace::unblocked(&m, *up.g[i]);
  for (std::size_t i = 0; i < up.n; ++i) {
    set_status(*up.g[i], g_status::waiting, g_status::runnable);
    put_in_turn_owner(p, up.g[i]);
  }
}

}  // namespace

void add_timer(M* m, timer* t, std::int64_t when) noexcept {
#ifdef VOLE_CHECKED
  if (timer_set::is_firing(t))
    broken("timers: a fire function added its own timer by add_timer, not by add_timer_again");
#endif
  added(m, timer_set_of(m != nullptr ? m->p->id : 0).add(t, when), when);
}

void add_sleeper(M& m, G* g, std::int64_t when) noexcept {
  added(&m, timer_set_of(m.p->id).add_sleeper(g, when), when);
}

void add_timer_again(M* m, timer* t, std::int64_t when) noexcept {
  added(m, timer_set::add_again(t, when), when);
}

bool stop_timer(timer* t) noexcept {
  const strict::undisturbed here;  // called in user context, too
  return timer_set::stop(t, &os::yield_thread);
}

std::int64_t first_timer(std::uint32_t p) noexcept { return timer_sets[p].first(); }

std::int64_t first_of_all_timers() noexcept {
  std::int64_t first = kNoTimer;
  sched.timer_mask.for_each(sched.procs.load(relaxed), [&first](std::uint32_t p) {
    const std::int64_t when = timer_sets[p].first();
    if (when < first) first = when;
  });
  return first;
}

bool fire_due_timers(M& m, std::uint32_t p, std::int64_t now) noexcept {
  timer_set& s = timer_sets[p];
  if (s.first() > now || !s.begin_firing()) return false;
  std::size_t n = 0;
  for (risen up;;) {
    timer* const t = s.take_due(now, up);
    rise(m, up);
    n += up.n;
    if (t != nullptr) {
      ++n;
      t->fire(t, &m);
      s.fired();
    } else if (up.n == 0) {
      break;
    }
  }
  s.end_firing();
  fired.fetch_add(n, relaxed);
  if (n > 1) {  // more than we can run at once
    fence_seq_cst();
    submit_local(*m.p);
  }
  return n != 0;
}

void fire_all_due_timers(M& m, std::int64_t now) noexcept {
  sched.timer_mask.for_each(sched.procs.load(relaxed),
                            [&](std::uint32_t p) { fire_due_timers(m, p, now); });
  if (m.p->ring.size() == 0) return;
  fence_seq_cst();  // S2: perhaps one from each timer_set, and together more than we can run
  submit_local(*m.p);
}

std::uint64_t timers_fired() noexcept { return fired.load(relaxed); }

void adopt_timers(std::uint32_t dead, std::uint32_t heir) noexcept {
  if (timer_sets[dead].first() == kNoTimer) return;
  sched.timer_mask.set(heir);
  if (!timer_sets[heir].adopt(timer_sets[dead]))
    fatal("out of memory: no room for a timer. A higher memory limit would help");
}

std::size_t pending_timers() noexcept {
  for (timer_set& s : timer_sets)
    if (const std::size_t n = s.pending()) return n;
  return 0;
}

std::size_t timers_of(std::uint32_t p) noexcept { return timer_sets[p].pending(); }

std::uint32_t timer_generation() noexcept { return generation.load(relaxed); }

void forget_timers() noexcept {
  generation.fetch_add(1, relaxed);
  timer* told = nullptr;  // the timers with a forget function, linked through `arg`
  for (timer_set& s : timer_sets)
    s.clear([&told](timer* t) {
      if (t->forgotten != nullptr) t->arg = std::exchange(told, t);
    });
  while (told != nullptr) {
    timer* const t = std::exchange(told, static_cast<timer*>(told->arg));
    t->forgotten(t);
  }
}

}  // namespace vole::rt
