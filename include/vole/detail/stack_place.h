// Where the calling goroutine's, or thread's, stack is. Not for users.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

// Stores an address on it: one instruction, and the compiler need not keep a frame for it, as it
// would for the address of a variable.
[[gnu::always_inline]] inline void put_stack_place(std::uintptr_t& to) noexcept {
#if defined(__x86_64__)
  __asm__("movq %%rsp, %0" : "=m"(to));
#elif defined(__aarch64__)
  __asm__("mov %0, sp" : "=r"(to));
#else
  to = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
