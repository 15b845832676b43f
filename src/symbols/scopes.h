// The whole names of functions that were inlined, from debug information.
//
// Compilers give a linker's name only to what has been compiled on its own. An inlined lambda, or a
// function of one file, is there by its last name alone; where it belongs is said by the entries that
// hold it. A lambda has no name at all: it is numbered as g++ does for the linker, among those of the
// same function, in the order of the source.
//
// Who    look_up (lookup_backtrace.cc), and the `vole` command, so that both say the same.
// Where  user context, or a dying thread. No malloc, no lock.
// Law    of a damaged section nothing is believed: some names are missing.
// Proof  tests/tools/names_test.py: the names of an optimised program are those of the same program
//        that is not; tests/tools/scopes_fuzz.cc
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "symbols/dies.h"

namespace vole::symbols {

inline constexpr std::size_t kMostInlined = 32;

struct scope_names {
  std::string_view inlined[kMostInlined];  // the innermost first, each with a zero behind; empty:
                                           // not known
  std::size_t n = 0;
  char text[8192];
  alignas(8) std::byte work[6144];  // so that little is needed of the caller's stack

  // Of a copy the views would be the original's.
  scope_names() = default;
  scope_names(const scope_names&) = delete;
  scope_names& operator=(const scope_names&) = delete;
};

// What is inlined at an address of the file. False: nothing is, or it is not known.
bool find_inlined(const debug_sections& s, std::uint64_t address, scope_names* found) noexcept;

// The same of a loaded module, whose file is read.
bool find_inlined_at(std::uintptr_t pc, scope_names* found) noexcept;

}  // namespace vole::symbols
