// The decisions behind the doors (arch/context.h).
//
// Who    vole_decide_*: on the stack of the goroutine that departs, inside the
//        runtime. vole_refused: on the stack that was switched to.
// Law    the quick pick looks at ready_next, runnext and the own ring, and at nothing
//        else: no lock, no timer, no poll. The departing goroutine may hold a channel's
//        lock until the landing, and anything more could need that very lock. Everything
//        else is g0's.
#pragma once

#include "arch/context.h"
#include "gmp/g.h"
#include "gmp/m.h"

namespace vole::rt {

// Makes g the running goroutine of m. Returns the context to load.
void* switch_to(M& m, G* g) noexcept;

// True: g has a stack now. False: the P's cache is empty, only g0 may fetch more.
bool attach_cached_stack(P& p, G* g) noexcept;
void attach_stack(G* g, const stack& s) noexcept;

inline void leave_behind(M& m, commit_fn commit, void* arg, G* g) noexcept {
  m.commit = commit;
  m.commit_arg = arg;
  m.commit_g = g;
}

}  // namespace vole::rt
