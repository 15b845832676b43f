// os/kernel_calls.h's side of Linux: how a function there makes its call.
#pragma once

#include <sys/syscall.h>

#include "arch/system_call.h"

#if defined(VOLE_SANITIZE_THREAD)
#include "os/linux/seen_calls.h"
#define VOLE_KERNEL_CALL(name)                              \
  template <class... Args>                                  \
  long name(Args... args) noexcept {                        \
    return ::vole::os::seen::call<SYS_##name>(args...);     \
  }
#else
#define VOLE_KERNEL_CALL(name)                             \
  template <class... Args>                                 \
  long name(Args... args) noexcept {                       \
    return ::vole::arch::system_call(SYS_##name, args...); \
  }
#endif
