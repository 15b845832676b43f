// Death of a goroutine.
//
// Law    a stack goes back only after the thread has left it: by the commit, on the
//        next stack. The exception is a successor that has not started yet: it
//        takes over the very stack its predecessor has just finished on.
#pragma once

#include "gmp/g.h"

namespace vole::rt {

bool commit_end(G* g, void*) noexcept;  // the commit of a death

// Unwinds the current goroutine's stack, running destructors, and ends it. User context.
[[noreturn]] void unwind_and_exit();
bool is_exiting() noexcept;  // the current goroutine is being unwound by it

}  // namespace vole::rt
