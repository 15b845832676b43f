// The one per-thread word: this thread's M, or null on a plain thread.
//
// Law    read anew after everything that may switch stacks. The compiler believes
//        that a thread_local's address never changes within a function; a goroutine
//        that migrates proves it wrong. So the word is read by an asm statement the
//        compiler can neither move nor remember. (volatile, atomics and barriers
//        do not help; measured by everybody who tried.)
// Note   initial-exec: one load from the GOT, one from the thread's block. A second
//        copy of vole in the process would have a second word, and a runtime of its own.
#pragma once

namespace vole::rt {
struct M;
}

namespace vole::arch {

#if defined(__x86_64__)

inline rt::M* this_m() noexcept {
  rt::M* m;
  __asm__ volatile(
      "movq vole_thread_word@gottpoff(%%rip), %0\n\t"
      "movq %%fs:(%0), %0"
      : "=&r"(m));
  return m;
}

inline void set_this_m(rt::M* m) noexcept {
  void* offset;
  __asm__ volatile(
      "movq vole_thread_word@gottpoff(%%rip), %0\n\t"
      "movq %1, %%fs:(%0)"
      : "=&r"(offset)
      : "r"(m)
      : "memory");
}

#elif defined(__aarch64__)

inline rt::M* this_m() noexcept {
  rt::M* m;
  void* offset;
  __asm__ volatile(
      "mrs %0, tpidr_el0\n\t"
      "adrp %1, :gottprel:vole_thread_word\n\t"
      "ldr %1, [%1, #:gottprel_lo12:vole_thread_word]\n\t"
      "ldr %0, [%0, %1]"
      : "=&r"(m), "=&r"(offset));
  return m;
}

inline void set_this_m(rt::M* m) noexcept {
  void* base;
  void* offset;
  __asm__ volatile(
      "mrs %0, tpidr_el0\n\t"
      "adrp %1, :gottprel:vole_thread_word\n\t"
      "ldr %1, [%1, #:gottprel_lo12:vole_thread_word]\n\t"
      "str %2, [%0, %1]"
      : "=&r"(base), "=&r"(offset)
      : "r"(m)
      : "memory");
}

#endif

}  // namespace vole::arch
