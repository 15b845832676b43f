// The walker: the calls that a suspended goroutine is in, innermost first.
//
// A goroutine that has departed left its registers at its stack pointer (arch/context.h), and the
// unwind table of vole_land says where each of them is. From there every frame's own table leads to
// its caller. The compiler writes these tables for exceptions, so they are there in every build and
// frame pointers are not needed.
//
// Who    anybody who knows that the stack stands still: the world is stopped, or it is the
//        caller's own.
// Where  anywhere, signal handlers included: no lock, no malloc, no loader; reads of the stack stay
//        inside it.
// Law    a walk ends: each frame lies above the last, and there are at most as many as asked for.
// Note   rows are the same for the same pc: hence the cache.
// Proof  walk_test.cc compares every frame with those of the compiler's own unwinder, and walks
//        damaged stacks; tests/api/dump_test.cc
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/registers.h"
#include "walk/memory.h"
#include "walk/row.h"

namespace vole::walk {

// Rows by pc; zeroed memory is an empty one. One user at a time.
struct row_cache {
  static constexpr std::size_t kRows = 1024;
  row rows[kRows];

  const row& find(std::uintptr_t pc) noexcept;
};

struct cursor {
  arch::registers registers;
  std::uintptr_t pc = 0;
  bool exact = true;  // pc is where it stands, not where a call returns to
};

// Begins at a departed goroutine, from its saved stack pointer.
cursor departed_at(const void* sp) noexcept;

// Goes on to the caller. False: there is none, or the tables do not say. `cache` may be null.
bool step(cursor& c, const memory& stack, row_cache* cache) noexcept;

// Writes the return addresses of a departed goroutine, innermost first. Returns how many.
std::size_t return_addresses(const void* sp, const memory& stack, row_cache* cache,
                             std::uintptr_t* out, std::size_t most) noexcept;

}  // namespace vole::walk
