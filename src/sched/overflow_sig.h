// Stack overflow: a fault in a guard page, seen on the alternate signal stack.
#pragma once

namespace vole::rt {

// os::fault_hook. Returns if the fault is not an overflow of ours.
void stack_fault(void* address) noexcept;

}  // namespace vole::rt
