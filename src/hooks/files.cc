// sendfile, splice, flock: the kernel moves the bytes, or waits for another process. There is no flag
// that has these calls not wait on a blocking descriptor.
//
// Law    the goroutine parks until the side that may keep it waiting is ready; the call is the bare
//        one, in blocking(). sendfile to a socket goes by parts of kPart bytes, each of them after such
//        a wait: a slow peer keeps a goroutine, and a thread for one part at most.

#include <algorithm>
#include <cerrno>

#include "hooks/kind.h"
#include "hooks/wait.h"

namespace vole::hooks {
namespace {

// Only what has a queue is worth waiting for.
bool is_ready(int fd, waiting::way w) noexcept {
  const kind k = ask_kind(fd);
  if (k != kind::socket && k != kind::stream) return true;
  pollfd p{fd, static_cast<short>(w == waiting::way::in ? POLLIN : POLLOUT), 0};
  timespec now{};
  return kernel::ppoll(&p, 1, &now, nullptr, 0) != 0;
}

// 0, or an errno.
long wait_until_ready(const caller& by, int fd, waiting::way w) noexcept {
  waiting wait(by, fd, w);
  const long answer = wait.wait();
  const bool is_over = answer == -EAGAIN && wait.has_waited();
  return answer == -EBADF || is_over ? answer : 0;  // what is non-blocking says so itself
}
long until_ready(const caller& by, int fd, waiting::way w) noexcept {
  return is_ready(fd, w) ? 0 : wait_until_ready(by, fd, w);
}

// A file's end, no file, or no offset there: then the bare call comes back at once, whoever it is for.
bool gives_nothing(int from, off_t* offset) noexcept {
  // The kernel reads it before it looks at the files, and says so if it cannot.
  if (offset != nullptr && kernel::sendfile(-1, from, offset, std::size_t{0}) == -EFAULT) return true;
  struct stat about {};
  if (!ask_about(from, &about)) return true;
  if (!S_ISREG(about.st_mode)) return false;
  const long at = offset != nullptr ? *offset : kernel::lseek(from, 0L, SEEK_CUR);
  return at < 0 || at >= about.st_size;
}

constexpr std::size_t kPart = std::size_t{64} << 10;  // what the kernel moves at a time

long send_file(const caller& by, int to, int from, off_t* offset, std::size_t n) noexcept {
  if (n == 0) return kernel::sendfile(to, from, offset, n);
  const std::size_t most = ask_kind(to) == kind::socket ? kPart : n;
  std::size_t done = 0;
  for (;;) {
    const std::size_t part = std::min(n - done, most);
    long moved = 0;
    if (!is_ready(to, waiting::way::out) && !gives_nothing(from, offset))
      moved = wait_until_ready(by, to, waiting::way::out);
    if (moved == 0)
      moved = in_blocking(by, [=] { return kernel::sendfile(to, from, offset, part); });
    if (moved < 0) return done != 0 ? static_cast<long>(done) : moved;
    done += static_cast<std::size_t>(moved);
    if (static_cast<std::size_t>(moved) < part || done == n) return static_cast<long>(done);
  }
}

long splice_some(const caller& by, int from, off_t* from_at, int to, off_t* to_at, std::size_t n,
                 unsigned flags) noexcept {
  if (n == 0) return kernel::splice(from, from_at, to, to_at, n, flags);
  if ((flags & SPLICE_F_NONBLOCK) == 0) {
    if (const long error = until_ready(by, from, waiting::way::in)) return error;
    if (const long error = until_ready(by, to, waiting::way::out)) return error;
  }
  return in_blocking(by, [=] { return kernel::splice(from, from_at, to, to_at, n, flags); });
}

long lock_file(const caller& by, int fd, int how) noexcept {
  const long at_once = kernel::flock(fd, how | LOCK_NB);
  if (at_once != -EWOULDBLOCK || (how & LOCK_NB) != 0) return at_once;
  return in_blocking(by, [=] { return kernel::flock(fd, how); });
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

ssize_t sendfile(int to, int from, off_t* offset, std::size_t n) noexcept {
  if (!caught(symbol::sendfile_)) return bare().sendfile(to, from, offset, n);
  return give(send_file(VOLE_CALLER(sendfile), to, from, offset, n));
}

ssize_t sendfile64(int to, int from, off64_t* offset, std::size_t n) noexcept {
  if (!caught(symbol::sendfile64_)) return bare().sendfile64(to, from, offset, n);
  return give(send_file(VOLE_CALLER(sendfile64), to, from, offset, n));
}

ssize_t splice(int from, off64_t* from_at, int to, off64_t* to_at, std::size_t n, unsigned flags) {
  if (!caught(symbol::splice_)) return bare().splice(from, from_at, to, to_at, n, flags);
  return give(splice_some(VOLE_CALLER(splice), from, from_at, to, to_at, n, flags));
}

int flock(int fd, int how) noexcept {
  if (!caught(symbol::flock_)) return bare().flock(fd, how);
  return static_cast<int>(give(lock_file(VOLE_CALLER(flock), fd, how)));
}

}  // extern "C"
