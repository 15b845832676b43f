// The functions of libc that are replaced, and the originals.
//
// Law    the originals are found when the library is loaded (originals.cc), so that no hooked call
//        takes the loader's lock. Only a call from a constructor that runs earlier finds them itself.
// Note   a name that is added here needs its definition in this room; the compiler then asks for no
//        more than VOLE_HOOKED has.
#pragma once

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

// What programs built with _FORTIFY_SOURCE call. libc declares them only for those.
extern "C" {
ssize_t __read_chk(int fd, void* to, std::size_t n, std::size_t room);
ssize_t __recv_chk(int fd, void* to, std::size_t n, std::size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void* to, std::size_t n, std::size_t room, int flags, sockaddr* peer,
                       socklen_t* size);
int __poll_chk(pollfd* fds, nfds_t n, int timeout, std::size_t room);
int __ppoll_chk(pollfd* fds, nfds_t n, const timespec* timeout, const sigset_t* mask,
                std::size_t room);
[[noreturn]] void __chk_fail();
}

#define VOLE_HOOKED(X)                                                                             \
  X(read)                                                                                          \
  X(readv)                                                                                         \
  X(write)                                                                                         \
  X(writev) X(__read_chk) X(recv) X(recvfrom) X(recvmsg) X(recvmmsg) X(__recv_chk)                 \
      X(__recvfrom_chk) X(send) X(sendto) X(sendmsg) X(sendmmsg) X(accept) X(accept4) X(connect)   \
          X(poll) X(ppoll) X(__poll_chk) X(__ppoll_chk) X(select) X(pselect) X(epoll_wait)         \
              X(epoll_pwait) X(epoll_pwait2) X(sleep) X(usleep) X(nanosleep) X(clock_nanosleep)    \
                  X(getaddrinfo) X(getnameinfo) X(gethostbyname) X(gethostbyname2)                 \
                      X(gethostbyname_r) X(gethostbyname2_r) X(gethostbyaddr) X(gethostbyaddr_r)   \
                          X(sendfile) X(sendfile64) X(splice) X(flock) X(wait) X(waitpid) X(wait3) \
                              X(wait4) X(waitid) X(close) X(dup2) X(dup3) X(close_range)

namespace vole::hooks {

enum class symbol : std::uint8_t {
#define VOLE_SYMBOL(name) name##_,
  VOLE_HOOKED(VOLE_SYMBOL)
#undef VOLE_SYMBOL
      count_
};

struct originals {
#define VOLE_ORIGINAL(name) decltype(&::name) name;
  VOLE_HOOKED(VOLE_ORIGINAL)
#undef VOLE_ORIGINAL
};
extern originals found_originals;
void find_originals() noexcept;

// A constructor of a library that was loaded before us may call already.
inline const originals& bare() noexcept {
  if (found_originals.read == nullptr) [[unlikely]]
    find_originals();
  return found_originals;
}

}  // namespace vole::hooks
