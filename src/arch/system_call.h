// A system call as the kernel makes it: the result, or a negative errno value. errno is not touched,
// no thread is canceled, nobody's interposed function is called.
//
// Who    os; the other rooms have what it declares.
// Where  anywhere, signal handlers included.
#pragma once

#include <type_traits>

namespace vole::arch {

namespace detail {

#if defined(__x86_64__)

inline long system_call(long number, long a, long b, long c, long d, long e, long f) noexcept {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

#elif defined(__aarch64__)

inline long system_call(long number, long a, long b, long c, long d, long e, long f) noexcept {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}

#endif

template <class T>
long word(T value) noexcept {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else if constexpr (std::is_null_pointer_v<T>) {
    return 0;
  } else {
    return static_cast<long>(value);
  }
}

}  // namespace detail

template <class... Args>
long system_call(long number, Args... args) noexcept {
  static_assert(sizeof...(Args) <= 6);
  long a[6] = {detail::word(args)...};
  return detail::system_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

}  // namespace vole::arch
