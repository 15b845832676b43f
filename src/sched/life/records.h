// Goroutines' records: from the P's, the scheduler's or fresh, and back [31].
//
// Where  in the runtime, no lock held.
// Law    a record at rest is dead, and has no stack, no saved context, no name, no thread.
#pragma once

#include "gmp/g.h"
#include "gmp/m.h"
#include "gmp/p.h"

namespace vole::rt {

G* take_record(P& p) noexcept;
G* take_record_guest() noexcept;
g_name* copy_name(const char* text) noexcept;

// Death: off the goroutine's stack or with its stack handed on.
void recycle_g(M& m, G* g) noexcept;
void recycle_g_guest(G* g) noexcept;  // of one that nobody has seen

}  // namespace vole::rt
