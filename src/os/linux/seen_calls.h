// System calls as ThreadSanitizer is to see them: made by its own functions, which know what one thread
// tells another by a file, and look at the buffers. They are called by their own names, since hooks
// take libc's. A call that TSan has no function for is the kernel's, with the file's edge said beside it.
//
// Who    bare_calls.h and kernel_calls.h, under ThreadSanitizer.
// Where  anywhere. errno stays as it was: the result is the kernel's, or a negative errno value.
// Note   a signal that TSan has held back for this thread or goroutine is handled in there.
// Proof  tests/races/hooked/file_races.cc
#pragma once

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <type_traits>

#include "arch/system_call.h"

#define VOLE_SEEN(X)                                                                          \
  X(read) X(readv) X(write) X(writev) X(recvfrom) X(recvmsg) X(recvmmsg) X(sendto) X(sendmsg) \
      X(sendmmsg) X(accept4) X(connect) X(close) X(wait4) X(waitid) X(epoll_pwait) \
      X(epoll_ctl)

extern "C" {
#define VOLE_THEIRS(name) [[gnu::weak]] decltype(::name) __interceptor_##name;
VOLE_SEEN(VOLE_THEIRS)
#undef VOLE_THEIRS
}

namespace vole::os::seen {

template <long kNumber>
inline constexpr auto theirs = nullptr;
#define VOLE_THEIRS(name) \
  template <>             \
  inline constexpr auto theirs<SYS_##name> = &__interceptor_##name;
VOLE_SEEN(VOLE_THEIRS)
#undef VOLE_THEIRS
#undef VOLE_SEEN

// These two calls of the kernel's have an argument more than libc's, which comes last.
template <class R, class... Params, class... Args>
  requires(sizeof...(Params) == sizeof...(Args))
R without_more(R (*fn)(Params...), Args... args) noexcept {
  return fn(static_cast<Params>(args)...);
}
template <class A, class B, class C, class D, class More>
auto without_more(decltype(&__interceptor_waitid) fn, A a, B b, C c, D d, More) noexcept {
  return fn(a, b, c, d);
}
template <class A, class B, class C, class D, class E, class More>
auto without_more(decltype(&__interceptor_epoll_pwait) fn, A a, B b, C c, D d, E e, More) noexcept {
  return fn(a, b, c, d, e);
}

template <class Call>
long told(Call call) noexcept {
  const int before = errno;
  const auto result = call();
  const int error = errno;
  errno = before;
  return result < 0 ? -static_cast<long>(error) : static_cast<long>(result);
}

template <long kNumber, class... Args>
long as_theirs(Args... args) noexcept {
  if constexpr (!std::is_null_pointer_v<std::remove_const_t<decltype(theirs<kNumber>)>>) {
    if (theirs<kNumber> != nullptr)
      return told([&] { return without_more(theirs<kNumber>, args...); });
  }
  return arch::system_call(kNumber, args...);
}

// Moves no bytes.
inline void says(int fd) noexcept { as_theirs<SYS_writev>(fd, nullptr, 0); }
inline void hears(int fd) noexcept { as_theirs<SYS_readv>(fd, nullptr, 0); }

template <long kNumber, class... Args>
  requires(kNumber != SYS_splice)
long call(int fd, Args... args) noexcept {
  if constexpr (kNumber == SYS_pwritev2 || kNumber == SYS_sendfile) says(fd);
  const long result = as_theirs<kNumber>(fd, args...);
  if constexpr (kNumber == SYS_preadv2 || kNumber == SYS_recvfrom)  // whose function says no edge
    if (result >= 0) hears(fd);
  return result;
}
template <long kNumber, class... Args>
  requires(kNumber == SYS_splice)
long call(int from, loff_t* from_at, int to, Args... args) noexcept {
  says(to);
  const long result = arch::system_call(kNumber, from, from_at, to, args...);
  if (result >= 0) hears(from);
  return result;
}
template <long kNumber, class First, class... Args>
  requires(!std::is_same_v<First, int>)
long call(First first, Args... args) noexcept {
  return as_theirs<kNumber>(first, args...);
}

}  // namespace vole::os::seen
