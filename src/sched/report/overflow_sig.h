// Faults, seen on the alternate signal stack. One in the guard page of a goroutine's stack is a
// stack overflow; for any other that kills the program we say which goroutine it was.
#pragma once

#include "os/os.h"

namespace vole::rt {

// os::fault_hook. Returns if the fault is not an overflow of ours.
void on_fault(const os::fault& f) noexcept;

}  // namespace vole::rt
