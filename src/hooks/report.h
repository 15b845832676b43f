// How many calls there were, and how they waited: VOLE_DEBUG=hooks=1 prints a line for each function
// when the program ends.
//
// Law    quick calls are counted only if somebody wants to know.
#pragma once

#include "hooks/symbols.h"

namespace vole::hooks::report {

extern bool wanted;

void called(symbol which) noexcept;
void parked(symbol which) noexcept;
void blocked(symbol which) noexcept;
void left_bare(symbol which) noexcept;  // it may not wait otherwise: a signal handler

}  // namespace vole::hooks::report
