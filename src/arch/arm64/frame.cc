#include <cstdint>

#include "arch/context.h"

namespace vole::arch {

void* make_first_frame(std::byte* top) noexcept {
  auto* frame = reinterpret_cast<std::uint64_t*>(top - VOLE_FRAME_BYTES);
  for (int i = 0; i < VOLE_FRAME_BYTES / 8; ++i) frame[i] = 0;
  // frame[0..9] x19-x28, [10] x29, [11] x30, [12..19] d8-d15, [20] fpcr
  frame[11] = reinterpret_cast<std::uint64_t>(&vole_goroutine_start);
  return frame;
}

}  // namespace vole::arch
