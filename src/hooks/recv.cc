// recv, recvfrom, recvmsg, recvmmsg.
//
// Law    MSG_WAITALL comes back with all, or with what there was at the end, an error or a timeout.
// Note   a call that never waits (MSG_DONTWAIT, MSG_ERRQUEUE, MSG_OOB) is the bare one; so is one that
//        looks at all without taking it (MSG_PEEK with MSG_WAITALL), in blocking().

#include <cerrno>

#include "hooks/kind.h"
#include "hooks/span.h"
#include "hooks/wait.h"

namespace vole::hooks {
namespace {

constexpr int kNeverWaits = MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB;

// `once()` until it need not wait; `bare_call()` the call as it was made. `room`: for so many bytes.
template <class Once, class Bare>
long receive(const caller& by, int fd, std::size_t room, Once once, Bare bare_call) noexcept {
  waiting w(by, fd, waiting::way::in, guess(fd) == kind::asked);
  for (;;) {
    const long n = w.is_worth_trying() ? once() : -EAGAIN;
    if (n != -EAGAIN) {
      if (n >= 0) remember_received(fd, static_cast<std::size_t>(n) < room);
      return n;
    }
    const long answer = w.wait();
    if (answer == waiting::kMakeBareCall) return in_blocking(by, bare_call);
    if (answer != waiting::kTryAgain) return answer;
  }
}

// A stream: each part is taken from where the last one ended.
long receive_all(const caller& by, int fd, span& to, int flags) noexcept {
  waiting w(by, fd, waiting::way::in);
  long done = 0;
  while (!to.empty()) {
    msghdr m{};
    m.msg_iov = const_cast<iovec*>(to.parts());
    m.msg_iovlen = to.count();
    long n = kernel::recvmsg(fd, &m, (flags & ~MSG_WAITALL) | MSG_DONTWAIT);
    if (n == -EAGAIN) {
      const long answer = w.wait();
      if (answer == waiting::kTryAgain) continue;
      n = answer;
      if (answer == waiting::kMakeBareCall)
        n = in_blocking(by, [&] { return kernel::recvmsg(fd, &m, flags); });
      if (n > 0) done += n;
      return done != 0 ? done : n;
    }
    if (n <= 0) return done != 0 ? done : n;
    done += n;
    to.drop(static_cast<std::size_t>(n));
    w.moved();
  }
  return done;
}

bool is_stream(int fd) noexcept {
  int type = 0;
  socklen_t size = sizeof(type);
  return kernel::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

long recv_from(const caller& by, int fd, void* to, std::size_t n, int flags, sockaddr* peer,
               socklen_t* size) noexcept {
  const auto as_it_was = [=] { return kernel::recvfrom(fd, to, n, flags, peer, size); };
  if ((flags & kNeverWaits) != 0) return as_it_was();
  if ((flags & MSG_WAITALL) != 0 && is_stream(fd)) {
    if ((flags & MSG_PEEK) != 0 || peer != nullptr || n == 0) return in_blocking(by, as_it_was);
    span all(to, n);
    return receive_all(by, fd, all, flags);
  }
  return receive(
      by, fd, n, [=] { return kernel::recvfrom(fd, to, n, flags | MSG_DONTWAIT, peer, size); },
      as_it_was);
}

long recv_message(const caller& by, int fd, msghdr* m, int flags) noexcept {
  const auto as_it_was = [=] { return kernel::recvmsg(fd, m, flags); };
  if ((flags & kNeverWaits) != 0) return as_it_was();
  if ((flags & MSG_WAITALL) != 0) return in_blocking(by, as_it_was);
  return receive(
      by, fd, 0, [=] { return kernel::recvmsg(fd, m, flags | MSG_DONTWAIT); }, as_it_was);
}

// Waits for the first; with MSG_WAITFORONE that is all it waits for. Otherwise the bare call waits for
// each in turn, and so do we, by one message at a time.
long recv_messages(const caller& by, int fd, mmsghdr* ms, unsigned n, int flags,
                   timespec* timeout) noexcept {
  const auto as_it_was = [=] { return kernel::recvmmsg(fd, ms, n, flags, timeout); };
  if ((flags & kNeverWaits) != 0) return as_it_was();
  if (timeout != nullptr || (flags & MSG_WAITALL) != 0) return in_blocking(by, as_it_was);
  if ((flags & MSG_WAITFORONE) != 0)
    return receive(
        by, fd, 0, [=] { return kernel::recvmmsg(fd, ms, n, flags | MSG_DONTWAIT, nullptr); },
        as_it_was);
  unsigned got = 0;
  while (got < n) {
    const long one = recv_message(by, fd, &ms[got].msg_hdr, flags);
    if (one < 0) return got != 0 ? got : one;
    ms[got++].msg_len = static_cast<unsigned>(one);
  }
  return got;
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

ssize_t recv(int fd, void* to, std::size_t n, int flags) {
  if (!caught(symbol::recv_)) return bare().recv(fd, to, n, flags);
  return give(recv_from(VOLE_CALLER(recv), fd, to, n, flags, nullptr, nullptr));
}

ssize_t __recv_chk(int fd, void* to, std::size_t n, std::size_t room, int flags) {
  if (n > room) __chk_fail();
  if (!caught(symbol::__recv_chk_)) return bare().recv(fd, to, n, flags);
  return give(recv_from(VOLE_CALLER(__recv_chk), fd, to, n, flags, nullptr, nullptr));
}

ssize_t recvfrom(int fd, void* to, std::size_t n, int flags, sockaddr* peer, socklen_t* size) {
  if (!caught(symbol::recvfrom_)) return bare().recvfrom(fd, to, n, flags, peer, size);
  return give(recv_from(VOLE_CALLER(recvfrom), fd, to, n, flags, peer, size));
}

ssize_t __recvfrom_chk(int fd, void* to, std::size_t n, std::size_t room, int flags, sockaddr* peer,
                       socklen_t* size) {
  if (n > room) __chk_fail();
  if (!caught(symbol::__recvfrom_chk_)) return bare().recvfrom(fd, to, n, flags, peer, size);
  return give(recv_from(VOLE_CALLER(__recvfrom_chk), fd, to, n, flags, peer, size));
}

ssize_t recvmsg(int fd, msghdr* m, int flags) {
  if (!caught(symbol::recvmsg_)) return bare().recvmsg(fd, m, flags);
  return give(recv_message(VOLE_CALLER(recvmsg), fd, m, flags));
}

int recvmmsg(int fd, mmsghdr* ms, unsigned n, int flags, timespec* timeout) {
  if (!caught(symbol::recvmmsg_)) return bare().recvmmsg(fd, ms, n, flags, timeout);
  return static_cast<int>(give(recv_messages(VOLE_CALLER(recvmmsg), fd, ms, n, flags, timeout)));
}

}  // extern "C"
