// How many threads sleep on a lock, kept outside of the locks.
//
// Whoever frees a lock must not touch it afterwards: its next holder may destroy it.
// It looks here instead, by the lock's address.
//
// Note   locks share a count now and then: then a release makes a call that wakes nobody.
#pragma once

#include <cstdint>

#include "base/atomic.h"

namespace vole::base::lot {

inline constexpr std::size_t kCounts = 256;
extern atomic<std::uint32_t> counts[kCounts];

inline atomic<std::uint32_t>& sleepers(const void* lock) noexcept {
  return counts[reinterpret_cast<std::uintptr_t>(lock) / 64 % kCounts];
}

}  // namespace vole::base::lot
