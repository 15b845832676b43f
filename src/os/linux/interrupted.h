// A system call that a signal has interrupted is made again: a signal is no reason for a call to fail.
//
// Who    net.cc, file.cc and process.cc of this folder.
// Law    the call returns a negative number and errno, or what it came to. told() is for calls whose
//        error is their result (bare_calls.h).
#pragma once

#include <cerrno>

#include "os/result.h"

namespace vole::os {

template <class Call>
result again_if_interrupted(Call call) noexcept {
  for (;;) {
    const auto n = call();
    if (n >= 0) return {n, 0};
    if (errno != EINTR) return {0, errno};
  }
}

template <class Call>
result told(Call call) noexcept {
  for (;;) {
    const long n = call();
    if (n >= 0) return {n, 0};
    if (n != -EINTR) return {0, static_cast<int>(-n)};
  }
}

}  // namespace vole::os
