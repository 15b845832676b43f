// A system call that a signal has interrupted is made again: a signal is no reason for a call to fail.
//
// Who    the files calls.cc of net, file and process.
// Law    the call returns a negative number and errno, or what it came to. told() is for calls whose
//        error is their result (arch/bare_calls.h).
#pragma once

#include <cerrno>

#include "net/calls.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace calls {

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

}  // namespace calls
}  // namespace detail
}  // namespace v0
}  // namespace vole
