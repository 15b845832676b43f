// Which code may hold a lock of malloc's, or of the loader's, while a function that it calls faults:
// all of the modules in which malloc and operator new are, the loader, and what is in no module.
//
// Who    the fault handler, before it lets names be made readable: that takes memory.
// Where  signal context.
#pragma once

#include <cstdint>
#include <string_view>

namespace vole::rt {

class memory_locks {
 public:
  memory_locks() noexcept;
  bool may_be_held_by(std::uintptr_t pc) const noexcept;

 private:
  std::string_view malloc_, new_;  // names of modules
};

}  // namespace vole::rt
