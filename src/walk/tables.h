// Finds the unwind table entry of a program counter.
//
// Who    anybody, anywhere: takes no lock, allocates nothing.
// Note   by the C library's _dl_find_object, which is made for this, and the index that linkers put
//        beside the tables (.eh_frame_hdr). Without either there is no entry, and a walk ends.
#pragma once

#include <cstdint>

#include "walk/bytes.h"

namespace vole::walk {

// A function's entry (FDE) with what it shares with others (CIE).
struct table_entry {
  std::uintptr_t from = 0, to = 0;  // the function
  std::uint64_t code_align = 1;
  std::int64_t data_align = 1;
  std::uint64_t return_register = 0;
  bool is_signal_frame = false;
  std::uint8_t encoding = 0;
  bytes common{nullptr, nullptr};  // instructions that come first
  bytes own{nullptr, nullptr};     // and then
};

bool find_entry(std::uintptr_t pc, table_entry* found) noexcept;

}  // namespace vole::walk
