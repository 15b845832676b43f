// Goroutines tied to their thread [25].
//
// Law    a locked M runs its goroutine and no other: when that one parks, the M
//        hands its P off and sleeps; an M that picks the goroutine gives that M a P.
//        A goroutine that ends while locked ends its thread.
#pragma once

#include "gmp/g.h"
#include "gmp/m.h"

namespace vole::rt {

// The current goroutine; nested. No effect on a plain thread. User context.
void lock_thread() noexcept;
void unlock_thread() noexcept;

// The loop's part, on g0.
bool stop_locked_m(M& m) noexcept;         // sleeps until its goroutine is due; as stop_m
// Gives our P and g to g's own M.
void start_locked_m(M& m, G* g) noexcept;

}  // namespace vole::rt
