#include "hooks/wait.h"

#include <sys/time.h>

#include <cerrno>
#include <utility>

#include "hooks/callers.h"

namespace vole::hooks {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t after(std::int64_t seconds, std::int64_t ns) noexcept {
  const std::int64_t now = foreign::now_ns();
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  if (seconds >= (kMost - now) / kSecond - 1) return foreign::kNoDeadline;
  return now + seconds * kSecond + ns;
}

std::int64_t socket_deadline(int fd, bool out) noexcept {
  const int option = out ? SO_SNDTIMEO : SO_RCVTIMEO;
  timeval t{};
  socklen_t size = sizeof(t);
  if (kernel::getsockopt(fd, SOL_SOCKET, option, &t, &size) != 0 ||
      (t.tv_sec == 0 && t.tv_usec == 0))
    return foreign::kNoDeadline;
  return after(t.tv_sec, t.tv_usec * 1000);
}

}  // namespace

std::int64_t deadline_of(const timespec* t) noexcept {
  return t == nullptr ? foreign::kNoDeadline : after(t->tv_sec, t->tv_nsec);
}
std::int64_t deadline_in_ms(int ms) noexcept {
  return ms < 0 ? foreign::kNoDeadline : after(ms / 1000, ms % 1000 * std::int64_t{1'000'000});
}
bool is_over(std::int64_t deadline) noexcept {
  return deadline != foreign::kNoDeadline && deadline <= foreign::now_ns();
}
timespec left_until(std::int64_t deadline) noexcept {
  const std::int64_t left = deadline - foreign::now_ns();
  return left <= 0 ? timespec{} : timespec{left / kSecond, left % kSecond};
}

long park_until_ready(const caller& by, pollfd* fds, unsigned n, std::int64_t deadline) noexcept {
  report::parked(by.which);
  const keeping_errno mine;
  return foreign::wait_fds(fds, n, deadline);
}

void park_until(const caller& by, std::int64_t deadline) noexcept {
  report::parked(by.which);
  const keeping_errno mine;
  foreign::sleep_home(deadline);
}

long waiting::begin() noexcept {
  const long flags = kernel::fcntl(fd_, F_GETFL, 0);
  if (flags < 0) return flags;
  if ((flags & O_NONBLOCK) != 0) return -EAGAIN;
  if (must_not_park(by_)) return kMakeBareCall;
  deadline_ = socket_deadline(fd_, way_ == way::out);
  begun_ = true;
  return kTryAgain;
}

long waiting::wait() noexcept {
  const bool untried = std::exchange(waits_first_, false);
  if (!begun_) {
    const long answer = begin();
    if (answer == -EAGAIN && untried) return kTryAgain;
    if (answer != kTryAgain) return answer;
  }
  constexpr int kMostInVain = 64;
  if (++in_vain_ > kMostInVain) return kMakeBareCall;
  pollfd p{fd_, static_cast<short>(way_ == way::out ? POLLOUT : POLLIN), 0};
  const long n = park_until_ready(by_, &p, 1, deadline_);
  if (n < 0) return n;
  if (n == 0) return -EAGAIN;
  return (p.revents & POLLNVAL) != 0 ? -EBADF : kTryAgain;
}

}  // namespace vole::hooks
