// Calls that block their thread, said so by who makes them [23], [24].
//
// Who    api; on a goroutine, user context.
// Law    the P stays attached until somebody needs it: then sysmon takes it (slices.h). Afterwards
//        the goroutine takes an idle one, if there is one, or goes on without: like everybody
//        else who was evicted it gets one when it next needs one [24].
// Note   user code needs no P, so that beginning a call is little more than one store: the mark by
//        which sysmon knows that it need not ask the CPU clock. It is the thread's and of one
//        slice: a call within a call, or one that parks, ends it early. sysmon then finds out by
//        itself.
#pragma once

#include "gmp/g.h"
#include "gmp/m.h"

namespace vole::rt {

void begin_call() noexcept;
void end_call() noexcept;

// What dumps and counts show as status `syscall`: m's goroutine is in blocking(), as far as the mark
// tells. For who reads without stopping anything it is a guess.
bool is_in_call(const M& m) noexcept;
inline std::uint64_t calls_of(const M& m) noexcept { return m.call.load(relaxed) >> 32; }
// Whoever runs there now; without a lock that keeps it so.
const G* goroutine_on(const M& m) noexcept;
// On whichever M it is. The status is not asked.
bool is_in_call(const G& g) noexcept;

// The P is being taken, under m's retake lock: a mark that is not of this slice is forgotten. Without
// a P there is no tick to know it by.
void forget_stale_mark(M& m, const P& p) noexcept;

}  // namespace vole::rt
