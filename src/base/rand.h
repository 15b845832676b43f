// A small random generator for scheduling decisions (steal order, select order).
//
// Who    one thread each; an M has its own.
// Law    the same seed gives the same numbers, on every machine.
// Note   a multiply-and-fold step over a Weyl sequence: every 64-bit seed is good,
//        zero included. Not for secrets.
#pragma once

#include <cstdint>

namespace vole::base {

struct rand_state {
  std::uint64_t s = 0;

  constexpr void seed(std::uint64_t value) noexcept { s = value; }

  constexpr std::uint64_t next64() noexcept {
    s += 0xa0761d6478bd642fu;
    const wide product = static_cast<wide>(s) * (s ^ 0xe7037ed1a0b428dbu);
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
  }

  constexpr std::uint32_t next() noexcept { return static_cast<std::uint32_t>(next64() >> 32); }

  // Evenly in [0, n), but for a bias below n / 2^32; 0 if n is 0.
  constexpr std::uint32_t below(std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(next()) * n) >> 32);
  }

 private:
  __extension__ using wide = unsigned __int128;
};

}  // namespace vole::base
