// The processor's clock: it counts on at one rate, whatever the core does, and costs no call.
//
// Note   how fast it counts is measured (trace/writer.cc). Cores may disagree by a little.
#pragma once

#include <cstdint>

namespace vole::arch {

inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  std::uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return std::uint64_t{high} << 32 | low;
#elif defined(__aarch64__)
  std::uint64_t count;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#endif
}

}  // namespace vole::arch
