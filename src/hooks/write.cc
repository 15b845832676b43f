// write, writev.
//
// Law    all is written before the call returns, as the bare one does, unless an error or a timeout
//        comes first: then what was written is the answer, if it is anything.
// Law    a socket by MSG_DONTWAIT, everything else by RWF_NOWAIT; what knows neither by the bare call
//        in blocking().

#include <cerrno>

#include "hooks/kind.h"
#include "hooks/span.h"
#include "hooks/wait.h"

namespace vole::hooks {
namespace {

constexpr long kHere = -1;  // the file's own position

long bare_writev(int fd, span& from) noexcept {
  return kernel::writev(fd, from.parts(), from.count());
}

long rest_in_blocking(const caller& by, int fd, span& from, long before) noexcept {
  for (;;) {
    const long n = in_blocking(by, [&] { return bare_writev(fd, from); });
    if (n < 0) return before > 0 ? before : n;
    const bool whole = static_cast<std::size_t>(n) == from.bytes_shown();
    from.drop(static_cast<std::size_t>(n));
    before += n;
    if (!whole || from.empty()) return before;
  }
}

long send_some(int fd, span& from) noexcept {
  const iovec* const parts = from.parts();
  if (from.count() == 1)
    return kernel::sendto(fd, parts->iov_base, parts->iov_len, MSG_DONTWAIT, nullptr, 0);
  msghdr m{};
  m.msg_iov = const_cast<iovec*>(parts);
  m.msg_iovlen = from.count();
  return kernel::sendmsg(fd, &m, MSG_DONTWAIT);
}

long write_some(int fd, span& from, bool* is_socket) noexcept {
  if (*is_socket) {
    const long n = send_some(fd, from);
    if (n != -ENOTSOCK) {
      remember_sent(fd);
      return n;
    }
    *is_socket = false;
    ask_kind(fd);
  }
  return kernel::pwritev2(fd, from.parts(), from.count(), kHere, kHere, RWF_NOWAIT);
}

// RWF_NOWAIT is not for this file.
long write_by_poll(const caller& by, int fd, span& from, long before) noexcept {
  if (ask_kind(fd) == kind::stream) {
    waiting w(by, fd, waiting::way::out);
    const long answer = w.wait();
    if (answer < 0 && answer != -EAGAIN) return answer;
  }
  return rest_in_blocking(by, fd, from, before);
}

// Would block: 0 to try again, or the answer.
bool ends_here(const caller& by, waiting& w, int fd, span& from, long* done) noexcept {
  if ((guess(fd) == kind::file || w.has_waited()) && ask_kind(fd) == kind::file) {
    *done = rest_in_blocking(by, fd, from, *done);
    return true;
  }
  const long answer = w.wait();
  if (answer == waiting::kTryAgain) return false;
  if (answer == waiting::kMakeBareCall)
    *done = rest_in_blocking(by, fd, from, *done);
  else if (*done == 0)
    *done = answer;
  return true;
}

long write_all(const caller& by, int fd, span& from) noexcept {
  const kind first = guess(fd);
  bool is_socket = first == kind::unknown || hooks::is_socket(first);
  waiting w(by, fd, waiting::way::out);
  long done = 0;
  for (;;) {
    const long n = write_some(fd, from, &is_socket);
    if (n > 0) {
      done += n;
      from.drop(static_cast<std::size_t>(n));
      if (from.empty()) return done;
      w.moved();
    } else if (n == -EOPNOTSUPP && !is_socket) {
      return write_by_poll(by, fd, from, done);
    } else if (n != -EAGAIN) {
      return done != 0 ? done : n;
    } else if (ends_here(by, w, fd, from, &done)) {
      return done;
    }
  }
}

long write_one(const caller& by, int fd, const void* from, std::size_t n) noexcept {
  if (n == 0)  // an empty message waits for room; nothing else does
    return in_blocking(by, [=] { return kernel::write(fd, from, n); });
  if (n > 0x7ffff000) return kernel::write(fd, from, n);
  span all(from, n);
  return write_all(by, fd, all);
}

// A datagram of more parts than are shown at once would become two.
long write_parts(const caller& by, int fd, const iovec* parts, int count) noexcept {
  span all(parts, count > 0 ? static_cast<std::size_t>(count) : 0);
  if (count <= 0 || !all.shows_all() || all.bytes_shown() == 0)
    return in_blocking(by, [&] { return kernel::writev(fd, parts, count); });
  return write_all(by, fd, all);
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

ssize_t write(int fd, const void* from, std::size_t n) {
  if (!caught(symbol::write_)) return bare().write(fd, from, n);
  return give(write_one(VOLE_CALLER(write), fd, from, n));
}

ssize_t writev(int fd, const iovec* parts, int count) {
  if (!caught(symbol::writev_)) return bare().writev(fd, parts, count);
  return give(write_parts(VOLE_CALLER(writev), fd, parts, count));
}

}  // extern "C"
