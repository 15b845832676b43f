// The registers as unwind tables number them (DWARF).
//
// Who    walk, and the code that describes registers to it (arch/interrupted.h, root/root.cc).
#pragma once

#include <cstdint>

namespace vole::arch {

#if defined(__x86_64__)
// rax rdx rcx rbx rsi rdi rbp rsp, r8 to r15, and the return address as if it were a register.
inline constexpr unsigned kRegisters = 17, kStackPointer = 7, kReturnAddress = 16;
#elif defined(__aarch64__)
// x0 to x30, sp. The return address is x30's.
inline constexpr unsigned kRegisters = 32, kStackPointer = 31, kReturnAddress = 30;
#else
#error "vole knows the registers of x86-64 and AArch64 only"
#endif

struct registers {
  std::uintptr_t at[kRegisters] = {};
  std::uint64_t known = 0;  // a bit for each that has a value

  bool has(unsigned r) const noexcept { return r < kRegisters && (known >> r & 1) != 0; }
  void set(unsigned r, std::uintptr_t value) noexcept {
    at[r] = value;
    known |= std::uint64_t{1} << r;
  }
  void forget(unsigned r) noexcept { known &= ~(std::uint64_t{1} << r); }
};

}  // namespace vole::arch
