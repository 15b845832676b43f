// The event set on Linux: an epoll, and an eventfd as its bell.
//
// Note   the eventfd is level-triggered: a look that meets a bell rung for the blocking wait leaves it
//        ringing.
#include "os/events.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/atomic.h"
#include "os/linux/bare_calls.h"

namespace vole::os {
namespace {

static_assert(kPeerIsDone == EPOLLRDHUP && EPOLLIN == POLLIN && EPOLLOUT == POLLOUT &&
              EPOLLPRI == POLLPRI && EPOLLERR == POLLERR && EPOLLHUP == POLLHUP);

#if defined(VOLE_SANITIZE_THREAD)
constexpr bool kSeen = true;  // TSan knows epoll_wait and not epoll_pwait2 (bare_calls.h)
#else
constexpr bool kSeen = false;
#endif
constinit base::atomic<bool> no_nanoseconds{kSeen};

int control(const event_set& s, int operation, int fd, std::uint32_t what,
            std::uint64_t data) noexcept {
  epoll_event e{};
  e.events = what;
  e.data.u64 = data;
  return static_cast<int>(-bare::epoll_ctl(s.set, operation, fd, &e));
}

long wait_ns(int set, epoll_event* found, std::int64_t ns) noexcept {
  if (ns <= 0) return bare::epoll_wait(set, found, kMostEvents, ns == 0 ? 0 : -1);
  if (!no_nanoseconds.load(base::relaxed)) {
    const timespec t{ns / 1'000'000'000, ns % 1'000'000'000};
    const long n =
        arch::system_call(SYS_epoll_pwait2, set, found, kMostEvents, &t, nullptr, 0);
    if (n != -ENOSYS) return n;
    no_nanoseconds.store(true, base::relaxed);  // before Linux 5.11: whole milliseconds
  }
  const std::int64_t ms = (ns - 1) / 1'000'000 + 1;
  return bare::epoll_wait(set, found, kMostEvents,
                          ms < 86'400'000 ? static_cast<int>(ms) : 86'400'000);
}

}  // namespace

int make_event_set(event_set* s) noexcept {
  const event_set made{epoll_create1(EPOLL_CLOEXEC), eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  int error = made.set < 0 || made.bell < 0 ? errno : 0;
  if (error == 0) error = control(made, EPOLL_CTL_ADD, made.bell, EPOLLIN, kRung);
  if (error != 0) {
    drop_event_set(made);
  } else {
    *s = made;
  }
  return error;
}

void drop_event_set(const event_set& s) noexcept {
  if (s.bell >= 0) bare::close(s.bell);
  if (s.set >= 0) bare::close(s.set);
}

int watch_changes(const event_set& s, int fd, std::uint64_t data) noexcept {
  constexpr std::uint32_t kEverything = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP;
  return control(s, EPOLL_CTL_ADD, fd, kEverything | EPOLLET, data);
}
int stop_watching(const event_set& s, int fd) noexcept {
  return control(s, EPOLL_CTL_DEL, fd, 0, 0);
}
int watch_once(const event_set& s, int fd, std::uint32_t what, std::uint64_t data) noexcept {
  return control(s, EPOLL_CTL_ADD, fd, what | EPOLLONESHOT, data);
}
int again_once(const event_set& s, int fd, std::uint32_t what, std::uint64_t data) noexcept {
  return control(s, EPOLL_CTL_MOD, fd, what | EPOLLONESHOT, data);
}

int wait_for_events(const event_set& s, event (&found)[kMostEvents], std::int64_t ns) noexcept {
  epoll_event came[kMostEvents];
  const long n = wait_ns(s.set, came, ns);
  for (long i = 0; i < n; ++i) found[i] = {came[i].data.u64, came[i].events};
  return static_cast<int>(n);
}

void ring(const event_set& s) noexcept {
  const std::uint64_t one = 1;
  while (bare::write(s.bell, &one, sizeof one) == -EINTR) {
  }
}
void stop_ringing(const event_set& s) noexcept {
  std::uint64_t count;
  bare::read(s.bell, &count, sizeof count);
}

}  // namespace vole::os
