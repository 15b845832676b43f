// The stair door: how the upper floor parks goroutines, wakes them, and asks who is calling.
//
// Who    chan, sync, time, net, file, process; api. What else of the scheduler each of them sees stands
//        in tools/layers.txt: above all sched/wait/place.h, the shape of a wait for goroutines and
//        plain threads alike, which is made from what is here.
// Where  park: inside the runtime, on a goroutine. wake: inside the runtime (enter, or guest_enter).
//
// Law    the object's lock is released after the switch away, by the door or by a commit: a waker
//        that then finds the waiter finds a saved context (I11).
// Note   `return park(...)` is a tail call in optimised builds: no frame of ours is
//        returned through after the switch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/context.h"
#include "base/likely.h"
#include "gmp/m.h"
#include "gmp/p.h"
#include "gmp/wait_reason.h"
#include "gmp/waiter.h"
#include "sched/life/enter.h"
#include "sched/run/lifecycle.h"
#include "sched/hold/strict.h"
#include "trace/emit.h"

namespace vole::rt {

using arch::this_m;  // null on a plain thread

// Parks the current goroutine; returns in user code with the value given to ready.
inline std::uintptr_t park(commit_fn commit, void* arg, wait_reason why) noexcept {
  return vole_door_park(commit, arg, static_cast<std::uint32_t>(why));
}

// The same, if there is nothing to commit but to free an object's lock, by this word
// (base/biased_lock.h).
inline std::uintptr_t park_freeing(atomic<std::uint32_t>* by, wait_reason why) noexcept {
  if constexpr (arch::kThreadSanitizer) {
    const commit_fn free = [](G*, void* word) noexcept {
      biased_lock<lock_rank::object>::free(static_cast<atomic<std::uint32_t>*>(word));
      return true;
    };
    return park(free, by, why);
  } else {
    return vole_door_wait(by, static_cast<std::uint32_t>(why));
  }
}

// A short stay inside, from user context, for callers that can do without it. It is not possible on a
// plain thread, or inside the runtime, or while the P is away. True: leave(m) must follow.
inline bool may_enter_briefly(const M* m) noexcept {
  return likely(m != nullptr) && likely(m->hot.in_rt.load(relaxed) == 0);
}
inline bool may_enter_unasked(const M* m) noexcept {  // and is not asked to attend()
  return likely(m != nullptr) &&
         likely((m->hot.in_rt.load(relaxed) | m->hot.attention.load(relaxed)) == 0);
}
inline P* enter_briefly(M* m) noexcept { return m->hot.enter(); }  // null: leave(m) is to follow, too
// True: a short stay seems not to be possible. A P that is away may come back at any time.
inline bool seems_without_p() noexcept {
  const M* const m = arch::this_m();
  return !may_enter_briefly(m) || m->hot.p.load(relaxed) == nullptr;
}

// The presence (base/bias.h) of this M's P; inside the runtime, with a P.
inline presence& presence_of(const M* m) noexcept { return *m->p->presence; }
inline presence& presence_of(const P* p) noexcept { return *p->presence; }
inline presence* presence_if_any(const M* m) noexcept {
  return m != nullptr && m->p != nullptr ? m->p->presence : nullptr;
}
inline presence* presence_inside() noexcept {  // null as well: not inside
  const M* const m = arch::this_m();
  return m != nullptr && m->hot.in_rt.load(relaxed) != 0 ? presence_if_any(m) : nullptr;
}

// ── for those who are not inside ── user context (sched/run/lifecycle.h, sched/hold/strict.h)
inline void refuse_forked_child() noexcept { lifecycle::refuse_forked_child(); }
inline bool is_forked_child() noexcept { return lifecycle::now() == lifecycle::phase::forked; }
inline void watch_forks() noexcept { lifecycle::watch_forks(); }  // there may never be a runtime
// As a guest, from a goroutine whose P is away, while the runtime may be ending. False: it is, and
// who enters now does not come back. True: end_visit() is to follow.
inline bool visit_at_end() noexcept { return !lifecycle::is_zombie() && lifecycle::visit(); }
inline void end_visit() noexcept { lifecycle::end_visit(); }
// Holds a lock of the runtime without being inside: the thread is not captured meanwhile.
using strict::undisturbed;

// On a goroutine; user context on both sides.
inline void yield_now() noexcept { vole_door_yield(); }
inline bool is_asked(const M* m) noexcept {  // to attend(), in user context
  return m != nullptr && m->hot.attention.load(relaxed) != 0;
}
inline void checkpoint() noexcept {
  if (is_asked(arch::this_m())) [[unlikely]] attend();
}
// A checkpoint that the compiler put there: passed over in signal handlers and in what runs inside
// the runtime. errno goes with the goroutine.
void entry_checkpoint() noexcept;
inline bool on_goroutine() noexcept { return arch::this_m() != nullptr; }
inline G* this_goroutine() noexcept {  // null on a plain thread
  const M* const m = arch::this_m();
  return m != nullptr ? m->curg : nullptr;
}

// Destroys the current goroutine's locals: the last user code before it ends. User context.
inline void end_locals() noexcept {
  G* const g = arch::this_m()->curg;
  while (goroutine_locals* const l = g->wait.locals) {
    l->end(l, true);
    g->wait.locals = nullptr;
  }
}

// guest_enter for code in the middle of somebody else's, perhaps on a goroutine, that must
// neither park nor change threads there. Left by guest_leave. A zombie does not come back.
inline void guest_enter_anywhere() noexcept {
  guest_enter();
  if (!on_goroutine() || !lifecycle::is_zombie()) return;
  guest_leave();
  enter();
}

// This goroutine's waiter, filled in. `unlink` takes the object's lock.
inline waiter* self(M* m, void* object, void (*unlink)(void*, waiter*) noexcept) noexcept {
  waiter* const w = &m->curg->wait;
  w->g = m->curg;
  w->object = object;
  w->unlink = unlink;
  w->winner = nullptr;
  return w;
}

// wake() in three stores, for the common case: a goroutine, an empty ready_next, and no trace. False:
// call wake().
[[gnu::always_inline]] inline bool try_wake_next(M* m, waiter* w, std::uintptr_t value) noexcept {
  G* const g = w->g;
  P& p = *m->p;
  if (!likely(g != nullptr) || !likely(p.ready_next.load(relaxed) == nullptr) ||
      !likely(!trace::is_traced(*m)))
    return false;
  g->history.before_wake();
  g->wake_value = value;
  set_status(*g, g_status::waiting, g_status::runnable);
  p.ready_next.store(g, relaxed);
  return true;
}

// Makes a parked goroutine runnable, or wakes a plain thread. The waiter is off its queue, and
// no lock is held. `m` is the caller's M, or null for a guest.
void wake(M* m, waiter* w, std::uintptr_t value = 0) noexcept;

// wake() for many, in batches: their waiters are not in the cache, and a batch fetches the lines of all
// of them together, where wake() would wait for each in turn.
class waking {
 public:
  explicit waking(M* m) noexcept : m_(m) {}
  waking(const waking&) = delete;
  waking& operator=(const waking&) = delete;
  ~waking() { flush(); }

  void add(waiter* w, std::uintptr_t value) noexcept {
    if (w->g == nullptr) return wake(m_, w, value);
    w->g->history.before_wake();
    w->g->wake_value = value;
    some_[n_++] = w->g;
    if (n_ == kMost) flush();
  }

 private:
  static constexpr std::size_t kMost = 32;

  void flush() noexcept;

  M* const m_;
  runnable* some_[kMost];
  std::size_t n_ = 0;
};

}  // namespace vole::rt
