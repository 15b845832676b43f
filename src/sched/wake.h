// Making goroutines runnable.
//
// Who    the scheduler; upstairs uses wake() of park.h.
// Where  in the runtime, no lock held.
// Law    I1: after any of these, an idle worker will find the G. For a G readied
//        into an empty runnext, or a yielded one, that may take up to a millisecond:
//        see "owed".
//
// Owed wake-ups. A goroutine that readies another is often about to park and run
// it right here; waking a second core for it costs more (a futex wake is 6 us, a
// cache line across cores 85 ns) than running it in turn. So ready() into an empty
// runnext wakes nobody. A second ready pays the debt; and sysmon pays, within a
// millisecond, for any P that has had work and the same slice for a whole look while
// another P was idle. A yield owes in the same way: it puts one goroutine into the
// ring for the one it takes out.
#pragma once

#include "gmp/g.h"
#include "gmp/m.h"
#include "gmp/p.h"

namespace vole::rt {

void ready(M* m, G* g) noexcept;            // waiting -> runnable; m null: a guest
// From a source (a timer, the poller) that may have many: the first goes to runnext, before those
// who have been computing; the others to the ring's tail. The caller submits, if need be.
void put_in_turn_owner(P& p, runnable* g) noexcept;
void put_new_owner(M& m, G* g) noexcept;    // a newborn: runnext, and pays at once
void spill_owner(P& p, runnable* g) noexcept;  // the ring is full: half of it and g go global [6]
void push_global(G* g) noexcept;            // takes L, then submits

inline void put_back_owner(P& p, runnable* g) noexcept {  // the ring's tail
  if (!p.ring.push_owner(g)) [[unlikely]] spill_owner(p, g);
}

}  // namespace vole::rt
