// One bit per P [17]: which ones are idle (later also: which ones have timers).
//
// Who    set, clear: under the scheduler lock. test: anybody, as a hint.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "queue/steal_order.h"

namespace vole::rt {

using namespace base;

class p_mask {
 public:
  void set(std::uint32_t i) noexcept { word(i).fetch_or(bit(i), seq_cst); }
  void clear(std::uint32_t i) noexcept { word(i).fetch_and(~bit(i), seq_cst); }
  bool test(std::uint32_t i) const noexcept {
    return (words_[i / 64].load(seq_cst) & bit(i)) != 0;
  }

 private:
  static std::uint64_t bit(std::uint32_t i) noexcept { return std::uint64_t{1} << (i % 64); }
  atomic<std::uint64_t>& word(std::uint32_t i) noexcept { return words_[i / 64]; }

  atomic<std::uint64_t> words_[kMaxProcs / 64] = {};
};

}  // namespace vole::rt
