// A row of an unwind table: at one program counter, where the caller's frame and registers are.
//
// Who    walk/ and its cache. Depends on the code only: the same pc always has the same row.
#pragma once

#include <cstdint>

#include "arch/registers.h"
#include "walk/tables.h"

namespace vole::walk {

// How a register of the caller is found. CFA: the caller's stack pointer.
enum class how : std::uint8_t {
  same,         // it was not touched
  lost,         // it cannot be found; of the return address: there is no caller
  at_cfa,       // in memory at CFA + value
  is_cfa,       // CFA + value
  in_register,  // in register `value`
  at_program,   // in memory, at the address that a program gives
  is_program,   // what a program gives
};

struct rule {
  how kind = how::same;
  std::uint8_t reg = 0;
  std::uint32_t size = 0;  // of the program
  union {
    std::int64_t value = 0;
    const std::uint8_t* program;
  };
};

struct row {
  static constexpr unsigned kMostRules = 20;

  std::uintptr_t pc = 0;         // 0: not a row
  bool usable = false;           // false: there is no table for pc, or nothing it can say
  bool is_signal_frame = false;  // the caller was interrupted: its pc is exact
  std::uint8_t rules = 0;
  rule cfa;                  // is_program; or in_register: register `reg` + value
  rule rule_of[kMostRules];  // of those that are not the same
};

void compute_row(std::uintptr_t pc, row* r) noexcept;

}  // namespace vole::walk
