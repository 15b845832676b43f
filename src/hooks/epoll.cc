// epoll_wait, epoll_pwait, epoll_pwait2: a set of descriptors is a descriptor, ready to read when one
// of its own is ready.
//
// Note   a signal mask for the time of the call is the thread's own: such a call is the bare one, in
//        blocking().

#include <cerrno>

#include "hooks/callers.h"
#include "hooks/wait.h"

namespace vole::hooks {
namespace {

long look(int set, epoll_event* found, int most) noexcept {
  return kernel::epoll_pwait(set, found, most, 0, nullptr, std::size_t{8});
}

int left_ms(std::int64_t deadline) noexcept {
  if (deadline == foreign::kNoDeadline) return -1;
  const timespec left = left_until(deadline);
  if (left.tv_sec > 1'000'000) return 1'000'000'000;
  return static_cast<int>(left.tv_sec * 1000 + (left.tv_nsec + 999'999) / 1'000'000);
}

long bare_wait(const caller& by, int set, epoll_event* found, int most, std::int64_t deadline,
               const sigset_t* mask) noexcept {
  return in_blocking(by, [&] {
    return kernel::epoll_pwait(set, found, most, left_ms(deadline), mask, std::size_t{8});
  });
}

long wait_until(const caller& by, int set, epoll_event* found, int most, std::int64_t deadline,
                const sigset_t* mask) noexcept {
  if (mask != nullptr) return bare_wait(by, set, found, most, deadline, mask);
  for (;;) {
    const long now = look(set, found, most);
    if (now != 0 || is_over(deadline)) return now;
    if (must_not_park(by)) return bare_wait(by, set, found, most, deadline, nullptr);
    pollfd p{set, POLLIN, 0};
    const long ready = park_until_ready(by, &p, 1, deadline);
    if (ready < 0) return ready;
    if ((p.revents & POLLNVAL) != 0) return -EBADF;
  }
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

int epoll_wait(int set, epoll_event* found, int most, int ms) {
  if (!caught(symbol::epoll_wait_)) return bare().epoll_wait(set, found, most, ms);
  return static_cast<int>(
      give(wait_until(VOLE_CALLER(epoll_wait), set, found, most, deadline_in_ms(ms), nullptr)));
}

int epoll_pwait(int set, epoll_event* found, int most, int ms, const sigset_t* mask) {
  if (!caught(symbol::epoll_pwait_)) return bare().epoll_pwait(set, found, most, ms, mask);
  return static_cast<int>(
      give(wait_until(VOLE_CALLER(epoll_pwait), set, found, most, deadline_in_ms(ms), mask)));
}

int epoll_pwait2(int set, epoll_event* found, int most, const timespec* t, const sigset_t* mask) {
  if (!caught(symbol::epoll_pwait2_)) return bare().epoll_pwait2(set, found, most, t, mask);
  const bool wrong =
      t != nullptr && (t->tv_sec < 0 || t->tv_nsec < 0 || t->tv_nsec >= 1'000'000'000);
  return static_cast<int>(
      give(wrong ? -EINVAL
                 : wait_until(VOLE_CALLER(epoll_pwait2), set, found, most, deadline_of(t), mask)));
}

}  // extern "C"
