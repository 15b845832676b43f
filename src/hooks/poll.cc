// poll, ppoll.
//
// Law    one look first, by the system call itself: what is ready now, and what is wrong, is the
//        kernel's answer.
// Note   a signal mask for the time of the call is the thread's own: such a call is the bare one, in
//        blocking(). So is one that waits for nothing and for ever.

#include <cerrno>

#include "hooks/callers.h"
#include "hooks/wait.h"

namespace vole::hooks {
namespace {

long look(pollfd* fds, nfds_t n) noexcept {
  constexpr timespec kNow{};
  timespec now = kNow;  // the kernel writes what is left
  return kernel::ppoll(fds, n, &now, nullptr, 0);
}

long bare_poll(const caller& by, pollfd* fds, nfds_t n, std::int64_t deadline,
               const sigset_t* mask) noexcept {
  return in_blocking(by, [&] {
    timespec left = left_until(deadline);
    return kernel::ppoll(fds, n, deadline == foreign::kNoDeadline ? nullptr : &left, mask,
               std::size_t{8});
  });
}

long poll_until(const caller& by, pollfd* fds, nfds_t n, std::int64_t deadline,
                const sigset_t* mask) noexcept {
  if (mask != nullptr) return bare_poll(by, fds, n, deadline, mask);
  const long now = look(fds, n);
  if (now != 0 || is_over(deadline)) return now;
  if ((n == 0 && deadline == foreign::kNoDeadline) || must_not_park(by))
    return bare_poll(by, fds, n, deadline, nullptr);
  if (n == 0) {
    park_until(by, deadline);
    return 0;
  }
  return park_until_ready(by, fds, static_cast<unsigned>(n), deadline);
}

long poll_for(const caller& by, pollfd* fds, nfds_t n, int ms) noexcept {
  return ms == 0 ? look(fds, n) : poll_until(by, fds, n, deadline_in_ms(ms), nullptr);
}

bool is_wrong(const timespec& t) noexcept {
  return t.tv_sec < 0 || t.tv_nsec < 0 || t.tv_nsec >= 1'000'000'000;
}

long poll_for(const caller& by, pollfd* fds, nfds_t n, const timespec* t,
              const sigset_t* mask) noexcept {
  if (t != nullptr && is_wrong(*t)) return -EINVAL;
  return poll_until(by, fds, n, deadline_of(t), mask);
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

int poll(pollfd* fds, nfds_t n, int ms) {
  if (!caught(symbol::poll_)) return bare().poll(fds, n, ms);
  return static_cast<int>(give(poll_for(VOLE_CALLER(poll), fds, n, ms)));
}

int __poll_chk(pollfd* fds, nfds_t n, int ms, std::size_t room) {
  if (room / sizeof(*fds) < n) __chk_fail();
  if (!caught(symbol::__poll_chk_)) return bare().poll(fds, n, ms);
  return static_cast<int>(give(poll_for(VOLE_CALLER(__poll_chk), fds, n, ms)));
}

int ppoll(pollfd* fds, nfds_t n, const timespec* t, const sigset_t* mask) {
  if (!caught(symbol::ppoll_)) return bare().ppoll(fds, n, t, mask);
  return static_cast<int>(give(poll_for(VOLE_CALLER(ppoll), fds, n, t, mask)));
}

int __ppoll_chk(pollfd* fds, nfds_t n, const timespec* t, const sigset_t* mask, std::size_t room) {
  if (room / sizeof(*fds) < n) __chk_fail();
  if (!caught(symbol::__ppoll_chk_)) return bare().ppoll(fds, n, t, mask);
  return static_cast<int>(give(poll_for(VOLE_CALLER(__ppoll_chk), fds, n, t, mask)));
}

}  // extern "C"
