// Unwind tables may say where something is by a small program (a DWARF expression): where a stack
// was realigned, in the linker's stubs, in signal frames.
//
// Law    bounded: a stack of 16 words, 256 steps; memory is read through walk::memory only.
#pragma once

#include <cstdint>

#include "arch/registers.h"
#include "walk/bytes.h"
#include "walk/memory.h"

namespace vole::walk {

// False: it cannot be said.
bool evaluate(bytes program, const arch::registers& r, const memory& m, const std::uintptr_t* first,
              std::uintptr_t* result) noexcept;

}  // namespace vole::walk
