#include <cstdint>
#include <cstring>

#include "arch/context.h"

namespace vole::arch {

void* make_first_frame(std::byte* top) noexcept {
  // As in a fresh thread: every floating-point exception masked, round to nearest.
  constexpr std::uint64_t kMxcsr = 0x1f80, kX87 = 0x037f;
  auto* frame = reinterpret_cast<std::uint64_t*>(top - VOLE_FRAME_BYTES);
  frame[0] = kMxcsr | (kX87 << 32);
  for (int i = 1; i <= 6; ++i) frame[i] = 0;
  frame[7] = reinterpret_cast<std::uint64_t>(&vole_goroutine_start);
  return frame;
}

}  // namespace vole::arch
