// os/kernel_calls.h's side of Linux: how a function there makes its call.
#pragma once

#include <sys/syscall.h>

#include "arch/system_call.h"

#define VOLE_KERNEL_CALL(name)                       \
  template <class... Args>                           \
  long name(Args... args) noexcept {                 \
    return ::vole::arch::system_call(SYS_##name, args...); \
  }
