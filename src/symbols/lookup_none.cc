// Without libbacktrace: the twin of lookup_backtrace.cc.

#include "symbols/symbols.h"

namespace vole::symbols {

bool look_up(std::uintptr_t, each_place, void*) noexcept { return false; }

}  // namespace vole::symbols
