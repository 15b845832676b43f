// Names for program counters: function, file and line, inlined functions included.
//
// Who    dumps, panics, stall reports: after the world runs again.
// Where  user context, or a dying thread. Allocates nothing with malloc; reads files, and asks the
//        loader for its list of modules.
// Note   by libbacktrace where CMake found it (lookup_backtrace.cc), of which the library holds a
//        private copy; elsewhere only the module is known (lookup_none.cc).
#pragma once

#include <cstdint>
#include <string_view>

namespace vole::symbols {

struct place {
  const char* function = nullptr;  // as the linker knows it; null: unknown
  const char* file = nullptr;      // null: unknown
  int line = 0;
};

using each_place = void (*)(const place& p, void* arg) noexcept;

// The functions at pc: the innermost inlined one first, the one that contains them all last. False:
// nothing is known.
bool look_up(std::uintptr_t pc, each_place fn, void* arg) noexcept;

struct module_place {
  std::string_view name;  // of the file, without its folder; "program" is the main one
  std::uintptr_t offset;  // in the file's own addresses, as addr2line takes them
};
// An empty name: in no module. Takes no lock.
module_place module_of(std::uintptr_t pc) noexcept;

}  // namespace vole::symbols
