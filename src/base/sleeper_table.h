// How many threads sleep on a lock, kept outside of the locks.
//
// A thread that frees a lock must not touch it afterwards: the next holder may destroy it.
// So it looks here instead: does anybody sleep on any lock (mostly not), and if so, by
// the lock's address, on this one?
//
// Law    a sleeper is counted in both before its membarrier, and until it is awake.
// Note   two locks may share a count: then a release makes a call that wakes nobody.
// Note   `vole_sleeper_total` has a name that the doors can read (arch/context.h).
#pragma once

#include <cstdint>

#include "base/atomic.h"

extern "C" {
// Read by every release: nothing else on its line.
struct alignas(64) vole_sleeper_word {
  vole::base::atomic<std::uint32_t> sleepers;
};
[[gnu::visibility("hidden")]] extern vole_sleeper_word vole_sleeper_total;
}

namespace vole::base::sleeper_table {

inline constexpr std::size_t kCounts = 256;
extern atomic<std::uint32_t> counts[kCounts];

inline atomic<std::uint32_t>& total() noexcept { return vole_sleeper_total.sleepers; }
inline atomic<std::uint32_t>& sleepers(const void* lock) noexcept {
  return counts[reinterpret_cast<std::uintptr_t>(lock) / 64 % kCounts];
}

}  // namespace vole::base::sleeper_table
