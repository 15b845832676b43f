#include "sched/work/find.h"

#include "base/fatal.h"
#include "os/os.h"
#include "sched/work/env.h"
#include "sched/work/home.h"
#include "sched/work/idle.h"
#include "sched/work/netpoll.h"
#include "sched/hold/safe_point.h"
#include "sched/state.h"
#include "sched/hold/thread.h"
#include "sched/wait/p_timers.h"
#include "sched/hold/world.h"
#include "sched/wake_policy/policy.h"
#include "trace/house.h"
#include "trace/emit.h"

namespace vole::rt {
namespace {

// A ring of so many goes breadth first, a longer one depth first; but for every 16th tick, which is
// the oldest's, as is the next one whenever depth has had its time.
constexpr std::uint32_t kBreadth = 32;
constexpr std::uint32_t kOldestTick = 16;
constexpr std::uint32_t kMailInARow = 16;
constexpr std::int64_t kDepthMost = 1000 * 1000;  // ns, on the coarse clock

void fire_own_timers(M& m) noexcept {
  if (first_timer(m.p->id) != kNoTimer) fire_due_timers(m, m.p->id, os::now_ns());
}

// Takes a goroutine that only this thread may run. After `most` of them in a row others have a turn.
runnable* find_mail(M& m, std::uint32_t most) noexcept {
  runnable* const r = m.home.in_a_row < most ? home::take(m) : nullptr;
  m.home.in_a_row = r != nullptr ? m.home.in_a_row + 1 : 0;
  if (r != nullptr) bump_tick(*m.p);
  return r;
}

runnable* find_once(M& m) noexcept {
  fire_own_timers(m);
  if (runnable* const r = find_fair_tick(*m.p)) return r;
  if (runnable* const r = find_mail(m, kMailInARow)) return r;
  if (runnable* const r = find_local(*m.p)) return r;
  if (runnable* const r = find_global(*m.p)) return r;
  if (wake_policy::gives_way_g0(m)) return nullptr;
  if (runnable* const r = find_polled(m)) return r;
  if (runnable* const r = find_mail(m, UINT32_MAX)) return r;
  return find_stolen(m);
}

}  // namespace

runnable* find_g0(M& m) noexcept {
  shipped_env env;
  for (;;) {
    if (m.p == nullptr && !stop_m(m)) return nullptr;
    if (sched.stopping.load(seq_cst)) {
      world::stop_here(m);
      continue;
    }
#ifdef VOLE_CHECKED
    if (m.spinning && has_work(*m.p)) broken("find: an M spins that has work of its own");
#endif
    m.hot.attention.store(0, seq_cst);  // every request is served by our being here
    if (sched.stopping.load(seq_cst)) continue;
    safe_point::run_owner(*m.p);
    if (trace::is_traced(m)) [[unlikely]] trace::tell_writer();
    if (wake_policy::retires_g0(m)) {
      if (!rest_g0(m)) return nullptr;
      continue;
    }
    if (runnable* const r = find_once(m)) {
      if (m.spinning) parking::found_work(env, m);
      return r;
    }
    wake_policy::finds_nothing_g0(m);
    if (parking::go_idle(env, m) == parking::verdict::retry) continue;
    sched.coarse_now.store(os::now_ns(), relaxed);
    if (!rest_g0(m)) return nullptr;
  }
}

runnable* take_newest_owner(P& p) noexcept {
  const std::int64_t now = sched.coarse_now.load(relaxed);
  if (p.schedtick.load(relaxed) % kOldestTick != 0 && now - p.oldest_at < kDepthMost)
    return p.ring.pop_newest_owner(kBreadth);
  p.oldest_at = now;
  return nullptr;
}

runnable* find_fair_tick(P& p) noexcept {
  if (!is_fair_tick(p) || sched.global_hint() == 0) return nullptr;
  sched.lock.acquire();
  runnable* const r = sched.global.pop_locked();
  sched.lock.release();
  if (r != nullptr) bump_tick(p);
  return r;
}

// Records are fetched under the lock, all at once; their stacks after it: the processor waits for
// the address of each.
runnable* find_global(P& p) noexcept {
  if (sched.global_hint() == 0) return nullptr;
  runnable* kept[local_queue::kHalf];
  std::size_t n_kept = 0;
  sched.lock.acquire();
  const std::size_t n = global_queue::share(sched.global_hint(), sched.procs.load(relaxed),
                                            local_queue::kHalf);
  runnable* const first = sched.global.pop_some_locked(n, [&](runnable* r) {
    __builtin_prefetch(r, 1);
    if (!p.ring.push_owner(r)) [[unlikely]]
      broken("find: a share of the global queue overflows the ring");
    kept[n_kept++] = r;
  });
  sched.lock.release();
  for (std::size_t i = 0; i < n_kept; ++i)
    if (kept[i]->kind == runnable_kind::goroutine) prefetch(*as_g(kept[i]));
  if (first != nullptr) bump_tick(p);
  return first;
}

}  // namespace vole::rt
