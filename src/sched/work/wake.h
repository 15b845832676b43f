// Making goroutines runnable.
//
// Who    the scheduler; upstairs uses wake() of park.h.
// Where  in the runtime, no lock held.
// Law    I1: after any of these, an idle worker will find the G. For one that was readied
//        on a P or yielded, that may take two looks of sysmon: see "Deferred wake-ups".
//
// Deferred wake-ups. A goroutine that readies another is often about to park and run
// it right here; waking a second core for it costs more (a futex wake is 6 us, a
// cache line across cores 85 ns) than running it in turn. So ready() puts it into the
// P's slot `ready_next`, which only the owner uses: that takes two plain stores, where runnext
// takes two locked instructions, and thieves that look about do not touch its line. A
// second ready moves the first to the ring, and wakes a thread. If the P does not come to it,
// because its goroutine runs on, sysmon moves it to the ring (retake::expose) and wakes a thread,
// at the second look that finds it there. A yield defers its wake-up in the same way, since it puts
// one goroutine into the ring for the one it takes out: sysmon wakes a thread when the ring has been
// in use for a while.
//
// Whether a thread is woken at all, the wake policy says (sched/wake_policy/policy.h).
#pragma once

#include <span>

#include "gmp/g.h"
#include "gmp/m.h"
#include "gmp/p.h"

namespace vole::rt {

void ready(M* m, G* g) noexcept;            // waiting -> runnable; m null: a guest
void ready_untold(M* m, G* g) noexcept;     // the same; the trace knows already
void ready_all(M* m, std::span<runnable* const> some) noexcept;  // many at once: one fence for all
// From a source (a timer, the poller) that may have many: the first runs next, before goroutines that
// have been computing; the others go to the ring's tail. The caller submits, if need be.
void put_in_turn_owner(P& p, runnable* g) noexcept;
void put_new_owner(M& m, G* g) noexcept;  // a newborn: to runnext, and wakes a thread at once
// Nobody may rely on the order: checked builds queue every second newborn behind instead [5], as
// Go's race builds do.
inline bool goes_behind([[maybe_unused]] M& m) noexcept {
#ifdef VOLE_CHECKED
  return m.random.below(2) == 0;
#else
  return false;
#endif
}
// The second half of that: out of runnext, which a newborn has taken, to the ring's tail.
void put_displaced_owner(M& m, runnable* g) noexcept;
void spill_owner(P& p, runnable* g) noexcept;  // the ring is full: half of it and g go global [6]
void push_global(runnable* g) noexcept;     // takes L, then submits
void push_global_owing(runnable* g) noexcept;  // takes L; the caller submits, or sysmon will

inline void put_back_owner(P& p, runnable* g) noexcept {  // the ring's tail
  if (!p.ring.push_owner(g)) [[unlikely]] spill_owner(p, g);
}

}  // namespace vole::rt
