// send, sendto, sendmsg, sendmmsg.
//
// Law    a blocking send comes back when all is sent, or with what was sent before an error or a
//        timeout. What goes along with the first byte (an address, descriptors) goes once.

#include <cerrno>

#include "hooks/kind.h"
#include "hooks/span.h"
#include "hooks/wait.h"

namespace vole::hooks {
namespace {

struct message {
  int fd;
  int flags;
  msghdr head;  // without the parts
};

long send_some(const message& m, span& from, bool first, int more_flags) noexcept {
  const iovec* const parts = from.parts();
  const int flags = m.flags | more_flags;
  if (from.count() == 1 && (!first || m.head.msg_controllen == 0))
    return kernel::sendto(m.fd, parts->iov_base, parts->iov_len, flags, m.head.msg_name,
               m.head.msg_namelen);
  msghdr head = m.head;
  head.msg_iov = const_cast<iovec*>(parts);
  head.msg_iovlen = from.count();
  if (!first) {
    head.msg_control = nullptr;
    head.msg_controllen = 0;
  }
  return kernel::sendmsg(m.fd, &head, flags);
}

// `done` bytes have been sent before.
[[gnu::noinline]] long send_all(const caller& by, const message& m, span& from,
                                long done) noexcept {
  waiting w(by, m.fd, waiting::way::out);
  from.drop(static_cast<std::size_t>(done));
  for (;;) {
    const long n = send_some(m, from, done == 0, MSG_DONTWAIT);
    if (n >= 0) {
      done += n;
      from.drop(static_cast<std::size_t>(n));
      if (n == 0 || from.empty()) {
        remember_sent(m.fd);
        return done;
      }
      w.moved();
      continue;
    }
    if (n != -EAGAIN) return done != 0 ? done : n;
    const long answer = w.wait();
    if (answer == waiting::kTryAgain) continue;
    if (answer != waiting::kMakeBareCall) return done != 0 ? done : answer;
    const long rest = in_blocking(by, [&] { return send_some(m, from, done == 0, 0); });
    return rest < 0 && done != 0 ? done : done + rest;
  }
}

long send_to(const caller& by, int fd, const void* from, std::size_t n, int flags,
             const sockaddr* peer, socklen_t size) noexcept {
  if ((flags & (MSG_DONTWAIT | MSG_OOB)) != 0 || n > 0x7ffff000)
    return kernel::sendto(fd, from, n, flags, peer, size);
  const long at_once = kernel::sendto(fd, from, n, flags | MSG_DONTWAIT, peer, size);
  if (at_once == static_cast<long>(n)) remember_sent(fd);
  if (at_once == static_cast<long>(n) || (at_once < 0 && at_once != -EAGAIN)) return at_once;
  span all(from, n);
  message m{fd, flags, {}};
  m.head.msg_name = const_cast<sockaddr*>(peer);
  m.head.msg_namelen = size;
  return send_all(by, m, all, at_once > 0 ? at_once : 0);
}

long send_message(const caller& by, int fd, const msghdr* head, int flags) noexcept {
  const auto as_it_was = [=] { return kernel::sendmsg(fd, head, flags); };
  if ((flags & (MSG_DONTWAIT | MSG_OOB)) != 0 || head == nullptr) return as_it_was();
  span all(head->msg_iov, head->msg_iovlen);
  if (!all.shows_all() || all.bytes_shown() == 0) return in_blocking(by, as_it_was);
  message m{fd, flags, *head};
  return send_all(by, m, all, 0);
}

long send_messages(const caller& by, int fd, mmsghdr* ms, unsigned n, int flags) noexcept {
  if ((flags & MSG_DONTWAIT) != 0 || ms == nullptr) return kernel::sendmmsg(fd, ms, n, flags);
  unsigned sent = 0;
  while (sent < n) {
    const long one = send_message(by, fd, &ms[sent].msg_hdr, flags);
    if (one < 0) return sent != 0 ? sent : one;
    ms[sent++].msg_len = static_cast<unsigned>(one);
  }
  return sent;
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

ssize_t send(int fd, const void* from, std::size_t n, int flags) {
  if (!caught(symbol::send_)) return bare().send(fd, from, n, flags);
  return give(send_to(VOLE_CALLER(send), fd, from, n, flags, nullptr, 0));
}

ssize_t sendto(int fd, const void* from, std::size_t n, int flags, const sockaddr* peer,
               socklen_t size) {
  if (!caught(symbol::sendto_)) return bare().sendto(fd, from, n, flags, peer, size);
  return give(send_to(VOLE_CALLER(sendto), fd, from, n, flags, peer, size));
}

ssize_t sendmsg(int fd, const msghdr* m, int flags) {
  if (!caught(symbol::sendmsg_)) return bare().sendmsg(fd, m, flags);
  return give(send_message(VOLE_CALLER(sendmsg), fd, m, flags));
}

int sendmmsg(int fd, mmsghdr* ms, unsigned n, int flags) {
  if (!caught(symbol::sendmmsg_)) return bare().sendmmsg(fd, ms, n, flags);
  return static_cast<int>(give(send_messages(VOLE_CALLER(sendmmsg), fd, ms, n, flags)));
}

}  // extern "C"
