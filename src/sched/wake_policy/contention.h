// The wake policy's door for the rooms whose locks goroutines meet: chan and sync.
#pragma once

#include "gmp/m.h"

namespace vole::rt {

// The M found a channel's lock or a mutex held, or changing, because of another thread. On a
// goroutine's thread, in user context or inside.
void note_contention(M& m) noexcept;

}  // namespace vole::rt
