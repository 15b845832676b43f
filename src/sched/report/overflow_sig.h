// Faults, seen on the alternate signal stack. One in the guard page of a goroutine's stack is a
// stack overflow; for any other that kills the program we say which goroutine it was.
#pragma once

#include "os/os.h"
#include "sched/report/capture.h"

namespace vole::rt {

// The goroutine's stack at the fault that this thread ends the program for.
struct faulted {
  own_stack stack;
  bool plain = true;  // names in words take memory, and malloc may not be called
};
// Null: it does not end it, or not for a fault.
const faulted* fault_in_hand() noexcept;

// os::fault_hook. Returns if the fault is not an overflow of ours.
void on_fault(const os::fault& f) noexcept;

}  // namespace vole::rt
