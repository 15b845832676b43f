#include "sched/work/wake.h"

#include "sched/work/env.h"
#include "sched/park.h"
#include "sched/state.h"
#include "trace/emit.h"

namespace vole::rt {
namespace {

// A goroutine that makes more than this runnable yields, and runs after them, since a queue that
// outgrows the cache costs more than the switch (docs/lab-notebook.md).
constexpr std::size_t kBacklog = 512;

// The ring is full: its older half and g go to the global queue in one go [6].
// False: a thief made room.
bool spill(P& p, runnable* g) noexcept {
  runnable* half[local_queue::kHalf];
  if (!p.ring.spill_half_owner(half)) return false;
  sched.lock.acquire();
  sched.global.append_locked(half, g);
  const bool too_many = sched.global_hint() > kBacklog;
  sched.lock.release();
  p.overflows.add_owner();
  p.adds_to_backlog = too_many;
  return true;
}

enum class age { newborn, woken };

// The running goroutine has made one more runnable: to the ring's tail. If that adds to a backlog,
// it is to yield.
[[gnu::always_inline]] inline void put_behind(M& m, runnable* g, age a) noexcept {
  P& p = *m.p;
  p.adds_to_backlog = false;  // what others spilled here, a timer or a yield, is not its doing
  if (!(a == age::newborn ? p.ring.push_newest_owner(g) : p.ring.push_owner(g))) spill_owner(p, g);
  fence_seq_cst();  // S2: the ring's back is a release store; S3 must not be early
  if (p.adds_to_backlog && m.curg != nullptr) m.hot.attention.store(1, relaxed);
}

void push_all_global(std::span<runnable* const> some) noexcept {
  sched.lock.acquire();
  sched.global.append_locked(some.first(some.size() - 1), some.back());  // S1
  sched.lock.release();
  submit();
}

}  // namespace

void spill_owner(P& p, runnable* g) noexcept {
  while (!spill(p, g) && !p.ring.push_owner(g)) {
  }
}

void push_global(runnable* g) noexcept {
  push_global_owing(g);
  submit();
}

void push_global_owing(runnable* g) noexcept {
  sched.lock.acquire();
  sched.global.push_back_locked(g);  // S1: its size is stored seq_cst
  sched.lock.release();
}

void ready(M* m, G* g) noexcept {
  if (trace::is_traced(m)) [[unlikely]] trace::unblocked(m, *g);
  ready_untold(m, g);
}

void ready_untold(M* m, G* g) noexcept {
  set_status(*g, g_status::waiting, g_status::runnable);
  if (m == nullptr) return push_global(g);
  P& p = *m->p;
  runnable* const displaced = p.ready_next.load(relaxed);
  p.ready_next.store(g, relaxed);
  if (displaced == nullptr) return;
  put_behind(*m, displaced, age::woken);
  submit_local(p);
}

// Leaves them as one ready() after the other would: the last one is in ready_next.
void ready_all(M* m, std::span<runnable* const> some) noexcept {
  if (trace::is_traced(m)) [[unlikely]]
    for (runnable* const r : some) trace::unblocked(m, *as_g(r));
  for (runnable* const r : some) set_status(*as_g(r), g_status::waiting, g_status::runnable);
  if (m == nullptr) return push_all_global(some);
  P& p = *m->p;
  p.adds_to_backlog = false;  // as in put_behind
  if (runnable* const displaced = p.ready_next.load(relaxed)) put_back_owner(p, displaced);
  for (runnable* const r : some.first(some.size() - 1)) put_back_owner(p, r);
  p.ready_next.store(some.back(), relaxed);
  fence_seq_cst();  // S2
  if (p.adds_to_backlog && m->curg != nullptr) m->hot.attention.store(1, relaxed);
  submit_local(p);
}

void put_in_turn_owner(P& p, runnable* g) noexcept {
  if (p.ready_next.load(relaxed) == nullptr) {
    p.ready_next.store(g, relaxed);
  } else {
    put_back_owner(p, g);
  }
}

void put_displaced_owner(M& m, runnable* g) noexcept {
  put_behind(m, g, age::newborn);
  submit_local(*m.p);
}

void put_new_owner(M& m, G* g) noexcept {
  if (goes_behind(m)) return put_displaced_owner(m, g);           // S1 and S2 for such a push
  runnable* const displaced = m.p->runnext.exchange(g, seq_cst);  // S1
  if (displaced != nullptr) return put_displaced_owner(m, displaced);
  submit_local(*m.p);
}

void wake(M* m, waiter* w, std::uintptr_t value) noexcept {
  if (w->g == nullptr) {
    race::release(w->thread);
    w->thread->value = value;
    return w->thread->woken.wake();
  }
  w->g->history.before_wake();
  w->g->wake_value = value;
  ready(m, w->g);
}

void waking::flush() noexcept {
  if (n_ == 1) {
    ready(m_, as_g(some_[0]));
  } else if (n_ != 0) {
    ready_all(m_, {some_, n_});
  }
  n_ = 0;
}

}  // namespace vole::rt
