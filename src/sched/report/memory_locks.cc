#include "sched/report/memory_locks.h"

#include <cstdlib>
#include <new>

#include "symbols/symbols.h"

namespace vole::rt {
namespace {

std::string_view module_with(void* (*function)(std::size_t)) noexcept {
  return symbols::module_of(reinterpret_cast<std::uintptr_t>(function)).name;
}

}  // namespace

memory_locks::memory_locks() noexcept
    : malloc_(module_with(&std::malloc)), new_(module_with(&::operator new)) {}

bool memory_locks::may_be_held_by(std::uintptr_t pc) const noexcept {
  const std::string_view name = symbols::module_of(pc).name;
  return name.empty() || name.starts_with("ld-") || name == malloc_ || name == new_;
}

}  // namespace vole::rt
