// Frames of vole's own code, which is compiled with frame pointers: where each returns to.
//
// Who    trace/dictionary.cc, for a goroutine that departs: its own stack, or one that stands still.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/offsets.h"

namespace vole::arch {

struct frame {
  std::uintptr_t pc;        // where it goes on
  const std::byte* caller;  // that function's frame record: its caller's record, its return address
};

// Where a goroutine that left by a door, with this stack pointer, goes on.
inline frame departed_frame(const void* sp) noexcept {
  const auto* const words = static_cast<const std::uintptr_t*>(sp);
#if defined(__x86_64__)
  return {words[7], reinterpret_cast<const std::byte*>(words[6])};
#elif defined(__aarch64__)
  return {words[11], reinterpret_cast<const std::byte*>(words[10])};
#endif
}

// Out of a function that keeps a frame record. The record lies in [from, to) or there is no caller.
inline frame caller_of(const frame& f, const std::byte* from, const std::byte* to) noexcept {
  if (f.caller < from || f.caller + 2 * sizeof(std::uintptr_t) > to ||
      reinterpret_cast<std::uintptr_t>(f.caller) % sizeof(std::uintptr_t) != 0)
    return {0, nullptr};
  const auto* const words = reinterpret_cast<const std::uintptr_t*>(f.caller);
  return {words[1], reinterpret_cast<const std::byte*>(words[0])};
}

}  // namespace vole::arch
