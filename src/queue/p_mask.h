// One bit per P [17]: which ones are idle, which ones have had timers.
//
// Who    the mask of idle Ps is set and cleared under the scheduler lock. That of timers is set by
//        any thread that adds one, and cleared when the P dies. test: anybody, as a hint.
#pragma once

#include <bit>
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
  // fn(i) for every bit below n that is set.
  template <class Fn>
  void for_each(std::uint32_t n, Fn&& fn) const {
    for (std::uint32_t w = 0; w * 64 < n; ++w)
      for (std::uint64_t left = words_[w].load(seq_cst); left != 0; left &= left - 1)
        fn(w * 64 + static_cast<std::uint32_t>(std::countr_zero(left)));
  }

 private:
  static std::uint64_t bit(std::uint32_t i) noexcept { return std::uint64_t{1} << (i % 64); }
  atomic<std::uint64_t>& word(std::uint32_t i) noexcept { return words_[i / 64]; }

  atomic<std::uint64_t> words_[kMaxProcs / 64] = {};
};

}  // namespace vole::rt
