// The registers of a thread, as unwind tables number them, and where its instruction is.
#pragma once

#include <elf.h>
#include <sys/user.h>

#include <cstdint>

namespace vole_command::outside {

#if defined(__x86_64__)
inline constexpr std::uint16_t kMachine = EM_X86_64;
inline constexpr unsigned kRegisters = 17, kStackPointer = 7;  // 16: the instruction pointer
#elif defined(__aarch64__)
inline constexpr std::uint16_t kMachine = EM_AARCH64;
inline constexpr unsigned kRegisters = 32, kStackPointer = 31;
#else
#error "the command looks into programs of x86-64 and AArch64 only"
#endif

struct thread_registers {
  int tid = 0;
  std::uint64_t at[kRegisters] = {};
  std::uint64_t pc = 0;

  std::uint64_t sp() const { return at[kStackPointer]; }
};

inline thread_registers from_user(int tid, const user_regs_struct& u) {
  thread_registers r;
  r.tid = tid;
#if defined(__x86_64__)
  const std::uint64_t in_order[kRegisters] = {u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi,
                                              u.rbp, u.rsp, u.r8,  u.r9,  u.r10, u.r11,
                                              u.r12, u.r13, u.r14, u.r15, u.rip};
  for (unsigned i = 0; i < kRegisters; ++i) r.at[i] = in_order[i];
  r.pc = u.rip;
#else
  for (unsigned i = 0; i < 31; ++i) r.at[i] = u.regs[i];
  r.at[kStackPointer] = u.sp;
  r.pc = u.pc;
#endif
  return r;
}

}  // namespace vole_command::outside
