// File and line of a program counter, straight from the line table (.debug_line) of its module.
//
// Who    look_up, where libbacktrace knows the function only. That of gcc 12 to 14 loses functions
//        that the compiler puts into sections of their own, as unoptimised inline ones are.
// Where  no malloc: the file is mapped while it is read. Signal-safe.
// Law    never reads past the sections: a file that is damaged, or whose sections are compressed,
//        gives no answer.
// Note   reads the whole table for one answer, some milliseconds for each megabyte. It says nothing
//        of inlined functions: where they matter, in optimised code, libbacktrace knows.
// Proof  src/symbols/line_table_test.cc compares it with addr2line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vole::symbols {

struct line_place {
  char file[512] = {};  // cut if it is longer
  int line = 0;
};

// False: nothing is known.
bool line_of(std::uintptr_t pc, line_place* found) noexcept;

// The same in a table: `strings` are .debug_str and .debug_line_str.
struct line_sections {
  std::string_view lines, line_strings, strings;
};
bool line_in(const line_sections& s, std::uint64_t address, line_place* found) noexcept;

}  // namespace vole::symbols
