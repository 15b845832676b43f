// Calls that are announced as blocking their thread: vole::blocking() [23], [24].
//
// Who    api, and net for an interposing library; on a goroutine, user context.
// Law    the P stays attached until somebody needs it: then sysmon takes it (slices.h). After the
//        call the goroutine takes an idle P, if there is one, or goes on without: like every
//        evicted goroutine it gets a P when it next needs one [24].
// Note   user code needs no P, so beginning a call is little more than one store: a mark that tells
//        sysmon that it need not ask the CPU clock. The mark belongs to the thread and to one
//        slice: a call within a call, or one that parks, ends it early, and then sysmon finds out
//        by the clock.
#pragma once

#include "gmp/g.h"
#include "gmp/m.h"

namespace vole::rt {

void begin_call() noexcept;
void end_call() noexcept;

// True: dumps and counts show the status `syscall`, since m's goroutine is in blocking() as far as the
// mark tells. If nothing is stopped, the answer is a guess.
bool is_in_call(const M& m) noexcept;
inline std::uint64_t calls_of(const M& m) noexcept { return m.call.load(relaxed) >> 32; }
// The same for whichever goroutine runs there now; no lock keeps it there.
const G* goroutine_on(const M& m) noexcept;
// On whichever M it is. The status is not asked.
bool is_in_call(const G& g) noexcept;

// The P is being taken, under m's retake lock: a mark that is not of this slice is forgotten. Without
// a P there is no tick to know it by.
void forget_stale_mark(M& m, const P& p) noexcept;

}  // namespace vole::rt
