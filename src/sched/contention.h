// When the second core does not pay.
//
// Goroutines on two cores that fight for one lock get less done than they would in turn on
// one: the lock's line alone takes 85 ns to cross, longer than what it guards. So a thread that
// has met others at the runtime's locks too often in a row retires: what it has queued goes to the
// global queue, its P becomes idle, and wake-ups are held to be in vain (sched/wake.h) until one
// has been worth it. sysmon tries again, less and less often.
//
// Who    chan, sync: note_contention. g0: retire.
// Law    a thread retires only beside one that has a P and has met others just now, too.
#pragma once

#include "gmp/m.h"

namespace vole::rt {

// A lock was held by somebody on another core. On a goroutine.
void note_contention(M& m) noexcept;

inline constexpr std::uint32_t kTooMuch = 8;  // meetings within kWindow

// On g0. True: the M has no P any more.
bool retire_g0(M& m) noexcept;

// A thread that was woken to search has nothing more to do: was it worth it?
void judge_wake_up(M& m) noexcept;

// Goroutines were stolen, and have been run: likewise. g0, holding a P.
void note_theft(M& m) noexcept;
void judge_theft(M& m) noexcept;

}  // namespace vole::rt
