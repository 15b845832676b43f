// The system calls that an interposing library replaces (src/hooks), as the kernel makes them: the
// result, or a negative errno value. vole's own calls are these, so that they cannot land in its hooks,
// and so that nobody else's store to errno can come between a call and the look at its error.
//
// Who    this folder.
// Where  anywhere, signal handlers included.
// Note   ThreadSanitizer learns from its own functions what one thread tells another by a file: there
//        they are called (seen_calls.h).
// Proof  tools/check_hooked.py: the library refers to none of the replaced names
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "arch/system_call.h"

#if defined(VOLE_SANITIZE_THREAD)
#include "os/linux/seen_calls.h"
#endif

namespace vole::os::bare {

inline constexpr std::size_t kSignalSet = 8;  // bytes of the kernel's

#if defined(VOLE_SANITIZE_THREAD)
#define VOLE_BARE(number, ...) seen::call<number>(__VA_ARGS__)
#else
#define VOLE_BARE(number, ...) arch::system_call(number, __VA_ARGS__)
#endif

inline long read(int fd, void* to, std::size_t n) noexcept {
  return VOLE_BARE(SYS_read, fd, to, n);
}
inline long write(int fd, const void* from, std::size_t n) noexcept {
  return VOLE_BARE(SYS_write, fd, from, n);
}
inline long writev(int fd, const iovec* parts, int n) noexcept {
  return VOLE_BARE(SYS_writev, fd, parts, n);
}
inline long recvfrom(int fd, void* to, std::size_t n, int flags, sockaddr* peer,
                     socklen_t* size) noexcept {
  return VOLE_BARE(SYS_recvfrom, fd, to, n, flags, peer, size);
}
inline long recvmsg(int fd, msghdr* m, int flags) noexcept {
  return VOLE_BARE(SYS_recvmsg, fd, m, flags);
}
inline long sendto(int fd, const void* from, std::size_t n, int flags, const sockaddr* peer,
                   socklen_t size) noexcept {
  return VOLE_BARE(SYS_sendto, fd, from, n, flags, peer, size);
}
inline long sendmsg(int fd, const msghdr* m, int flags) noexcept {
  return VOLE_BARE(SYS_sendmsg, fd, m, flags);
}
inline long sendfile(int to, int from, off_t* offset, std::size_t n) noexcept {
  return VOLE_BARE(SYS_sendfile, to, from, offset, n);
}
inline long splice(int from, int to, std::size_t n, unsigned flags) noexcept {
  return VOLE_BARE(SYS_splice, from, nullptr, to, nullptr, n, flags);
}
inline long accept4(int fd, sockaddr* peer, socklen_t* size, int flags) noexcept {
  return VOLE_BARE(SYS_accept4, fd, peer, size, flags);
}
inline long connect(int fd, const sockaddr* to, socklen_t size) noexcept {
  return VOLE_BARE(SYS_connect, fd, to, size);
}
inline long close(int fd) noexcept { return VOLE_BARE(SYS_close, fd); }
inline long waitid(idtype_t what, id_t id, siginfo_t* about, int flags) noexcept {
  return VOLE_BARE(SYS_waitid, what, id, about, flags, nullptr);
}
// null: for ever. The kernel's in every build: the hooks' own waits come here.
inline long ppoll(pollfd* fds, nfds_t n, const timespec* t) noexcept {
  timespec left = t != nullptr ? *t : timespec{};  // the kernel writes to it
  return arch::system_call(SYS_ppoll, fds, n, t != nullptr ? &left : nullptr, nullptr, kSignalSet);
}
inline long epoll_ctl(int set, int operation, int fd, epoll_event* what) noexcept {
  return VOLE_BARE(SYS_epoll_ctl, set, operation, fd, what);
}
inline long epoll_wait(int set, epoll_event* found, int most, int ms) noexcept {
  return VOLE_BARE(SYS_epoll_pwait, set, found, most, ms, nullptr, kSignalSet);
}

#undef VOLE_BARE

}  // namespace vole::os::bare
