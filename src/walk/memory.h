// Memory that is read while its owner may be anywhere: a goroutine's stack.
//
// Law    a read is a whole, aligned word inside the stack, or it fails. So a walk over a stack
//        that is damaged, or whose tables are wrong, ends; it never faults.
// Note   not instrumented: AddressSanitizer poisons what lies between a frame's variables, and
//        ThreadSanitizer does not know that the owner stands still.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vole::walk {

struct memory {
  std::uintptr_t from = 0, to = 0;  // [from, to)

  bool holds(std::uintptr_t address) const noexcept {
    return address >= from && address < to && to - address >= sizeof(std::uintptr_t) &&
           address % sizeof(std::uintptr_t) == 0;
  }
  bool read(std::uintptr_t address, std::uintptr_t* value) const noexcept;
};

}  // namespace vole::walk
