// Tells the sanitizers about stacks. In a build without one every function is empty.
//
// Law    to ASan, and to TSan where it watches the runtime itself (VOLE_TSAN_RUNTIME), a stack is a
//        record in its own lowest bytes, which lives exactly as long as the memory does; there each
//        stack is one TSan fiber. Else a goroutine is a fiber: arch/history.h.
// Note   ASan is told of a switch before it happens and again on the new stack.
//        Freed stacks are not given back to the system where they hold a fiber (that would lose
//        the record).
#pragma once

#include <cstddef>

#include "base/race.h"

namespace vole::arch {

// A stack as a sanitizer sees it.
struct san_stack {
  void* fiber = nullptr;       // TSan
  void* fake = nullptr;        // ASan's fake stack while we are away
  const void* lo = nullptr;
  std::size_t bytes = 0;
  san_stack* next = nullptr;   // all goroutine stacks ever seen, for the end
};

// Per M: who we are and where we go.
struct san_thread {
  san_stack g0;
  san_stack* current = nullptr;
  san_stack* target = nullptr;
  void* fiber = nullptr;       // arch/history.h: where we go
};

#if defined(VOLE_SANITIZE_ADDRESS) || defined(VOLE_SANITIZE_THREAD)
inline constexpr bool kSanitized = true;
void san_thread_begins(san_thread& t) noexcept;
// A goroutine is about to start on this stack.
void san_fresh_stack(std::byte* lo, std::size_t bytes) noexcept;
// The next switch goes there; null: to g0.
void san_aim(san_thread& t, std::byte* lo, void* fiber) noexcept;
// The goroutine that it aims at goes on where the current one has ended, on its stack.
void san_succeed(san_thread& t) noexcept;
void san_release_all() noexcept;                      // before the stacks are unmapped
// This memory goes back to the kernel. Abandoned frames have left their marks in its shadow, which
// the next user of the addresses must not meet.
void san_unmapping(const void* at, std::size_t bytes) noexcept;
#else
inline constexpr bool kSanitized = false;
inline void san_thread_begins(san_thread&) noexcept {}
inline void san_fresh_stack(std::byte*, std::size_t) noexcept {}
inline void san_aim(san_thread&, std::byte*, void*) noexcept {}
inline void san_succeed(san_thread&) noexcept {}
inline void san_release_all() noexcept {}
inline void san_unmapping(const void*, std::size_t) noexcept {}
#endif

#if defined(VOLE_SANITIZE_THREAD)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace vole::arch
