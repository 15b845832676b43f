// The registers of code that a signal has interrupted, as unwind tables number them.
//
// Who    handlers, with the ucontext_t that the kernel gave them.
// Where  signal context.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "arch/registers.h"

namespace vole::arch {

struct interrupted {
  registers at;
  std::uintptr_t pc = 0;
};

inline interrupted interrupted_by(const void* context) noexcept {
  const mcontext_t& m = static_cast<const ucontext_t*>(context)->uc_mcontext;
  interrupted i;
#if defined(__x86_64__)
  constexpr int kOrder[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  for (unsigned r = 0; r < 16; ++r) i.at.set(r, static_cast<std::uintptr_t>(m.gregs[kOrder[r]]));
  i.pc = static_cast<std::uintptr_t>(m.gregs[REG_RIP]);
#elif defined(__aarch64__)
  for (unsigned r = 0; r < 31; ++r) i.at.set(r, static_cast<std::uintptr_t>(m.regs[r]));
  i.at.set(kStackPointer, static_cast<std::uintptr_t>(m.sp));
  i.pc = static_cast<std::uintptr_t>(m.pc);
#endif
  return i;
}

}  // namespace vole::arch
