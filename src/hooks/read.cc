// read, readv.
//
// Law    a socket is read by MSG_DONTWAIT, everything else by RWF_NOWAIT; what knows neither is
//        waited for by poll if it has a queue, and read by the bare call in blocking().
// Law    what lies on a disk gives all that was asked for, or all there is, as the bare call does: the
//        part that was in the page cache is followed by the rest, in blocking().

#include <cerrno>

#include "hooks/kind.h"
#include "hooks/span.h"
#include "hooks/wait.h"

namespace vole::hooks {
namespace {

constexpr long kHere = -1;  // the file's own position

long bare_readv(int fd, span& to) noexcept { return kernel::readv(fd, to.parts(), to.count()); }

long rest_in_blocking(const caller& by, int fd, span& to, long before) noexcept {
  if (before > 0) to.drop(static_cast<std::size_t>(before));
  const long n = in_blocking(by, [&] { return bare_readv(fd, to); });
  return before > 0 ? before + (n > 0 ? n : 0) : n;
}

// RWF_NOWAIT is not for this file.
long read_by_poll(const caller& by, int fd, span& to) noexcept {
  if (ask_kind(fd) == kind::stream) {
    waiting w(by, fd, waiting::way::in);
    const long answer = w.wait();
    if (answer == -EAGAIN) return bare_readv(fd, to);
    if (answer < 0) return answer;
  }
  return rest_in_blocking(by, fd, to, 0);
}

bool keeps_nothing_back(int fd) noexcept {
  const kind k = guess(fd) == kind::stream ? kind::stream : ask_kind(fd);
  return k != kind::file;
}

long read_file(const caller& by, int fd, span& to) noexcept {
  waiting w(by, fd, waiting::way::in);
  for (;;) {
    const long n = kernel::preadv2(fd, to.parts(), to.count(), kHere, kHere, RWF_NOWAIT);
    if (n == -EOPNOTSUPP || n == -ENOSYS) return read_by_poll(by, fd, to);
    if (n > 0 && static_cast<std::size_t>(n) < to.bytes_shown() && !keeps_nothing_back(fd))
      return rest_in_blocking(by, fd, to, n);
    if (n != -EAGAIN) return n;
    if ((guess(fd) != kind::stream || w.has_waited()) && ask_kind(fd) == kind::file)
      return rest_in_blocking(by, fd, to, 0);
    const long answer = w.wait();
    if (answer == waiting::kMakeBareCall) return rest_in_blocking(by, fd, to, 0);
    if (answer != waiting::kTryAgain) return answer;
  }
}

long receive(int fd, span& to) noexcept {
  const iovec* const parts = to.parts();
  if (to.count() == 1)
    return kernel::recvfrom(fd, parts->iov_base, parts->iov_len, MSG_DONTWAIT, nullptr, nullptr);
  msghdr m{};
  m.msg_iov = const_cast<iovec*>(parts);
  m.msg_iovlen = to.count();
  return kernel::recvmsg(fd, &m, MSG_DONTWAIT);
}

long read_any(const caller& by, int fd, span& to) noexcept {
  const kind first = guess(fd);
  if (first != kind::unknown && !is_socket(first)) return read_file(by, fd, to);
  waiting w(by, fd, waiting::way::in, first == kind::asked);
  for (;;) {
    const long n = w.is_worth_trying() ? receive(fd, to) : -EAGAIN;
    if (n == -ENOTSOCK) {
      ask_kind(fd);
      return read_file(by, fd, to);
    }
    if (n >= 0) remember_received(fd, static_cast<std::size_t>(n) < to.bytes_shown());
    if (n != -EAGAIN) return n;
    const long answer = w.wait();
    if (answer == waiting::kMakeBareCall)
      return in_blocking(by, [&] { return bare_readv(fd, to); });
    if (answer != waiting::kTryAgain) return answer;
  }
}

long read_one(const caller& by, int fd, void* to, std::size_t n) noexcept {
  // Nothing to wait for; and a length that the kernel would cut is left to it.
  if (n == 0 || n > 0x7ffff000) return kernel::read(fd, to, n);
  span all(to, n);
  return read_any(by, fd, all);
}

// More parts than are shown at once would give a short read.
long read_parts(const caller& by, int fd, const iovec* parts, int count) noexcept {
  span all(parts, static_cast<std::size_t>(count));
  if (count <= 0 || !all.shows_all() || all.bytes_shown() == 0)
    return in_blocking(by, [&] { return kernel::readv(fd, parts, count); });
  return read_any(by, fd, all);
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

ssize_t read(int fd, void* to, std::size_t n) {
  if (!caught(symbol::read_)) return bare().read(fd, to, n);
  return give(read_one(VOLE_CALLER(read), fd, to, n));
}

ssize_t __read_chk(int fd, void* to, std::size_t n, std::size_t room) {
  if (n > room) __chk_fail();
  if (!caught(symbol::__read_chk_)) return bare().read(fd, to, n);
  return give(read_one(VOLE_CALLER(__read_chk), fd, to, n));
}

ssize_t readv(int fd, const iovec* parts, int count) {
  if (!caught(symbol::readv_)) return bare().readv(fd, parts, count);
  return give(read_parts(VOLE_CALLER(readv), fd, parts, count));
}

}  // extern "C"
