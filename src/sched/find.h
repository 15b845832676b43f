// Finding work, in the order of [11].
//
// Who    g0 only, holding a P (find may come back with another one).
#pragma once

#include "gmp/g.h"
#include "gmp/m.h"

namespace vole::rt {

// The next goroutine; sleeps until there is one. nullptr: the thread must end.
G* find_g0(M& m) noexcept;

// One helper per source; nullptr: nothing there.
G* find_fair_tick(P& p) noexcept;             // [9]
G* find_local(P& p) noexcept;                 // runnext, then the ring
G* find_global(P& p) noexcept;                // a share [8]; the rest goes to the ring
G* find_stolen(M& m) noexcept;                // [13]-[16]

}  // namespace vole::rt
