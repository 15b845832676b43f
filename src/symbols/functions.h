// The functions of a module, from its table of symbols.
//
// Who    trace/dictionary.h, to know which code is vole's own.
// Where  user context: maps the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vole::symbols {

struct function {
  std::string_view name;  // as the linker knows it; only during the call
  std::uintptr_t from, to;
  bool weak;  // inline, or a template: every user of it has compiled it
};
using each_function = void (*)(const function& f, void* arg) noexcept;

// Of the module that holds pc. False: it has no table, as one that was stripped.
bool functions_of(std::uintptr_t pc, each_function fn, void* arg) noexcept;

// A module that is loaded, and where.
struct module {
  std::string_view path;
  std::uintptr_t bias, from, to;
  std::string_view build_id;  // bytes
};
using each_module = void (*)(const module& m, void* arg) noexcept;
void modules(each_module fn, void* arg) noexcept;  // user context: asks the loader

}  // namespace vole::symbols
