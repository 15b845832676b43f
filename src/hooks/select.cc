// select, pselect.
//
// Law    the sets are asked of select itself, before and after the wait; the wait is poll's.
// Note   poll tells of errors and hang-ups that nobody asked for. If it does so and select sees
//        nothing, the rest of the wait is the bare call's, in blocking().

#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "hooks/callers.h"
#include "hooks/wait.h"

namespace vole::hooks {
namespace {

struct sets {
  int n;
  fd_set *in, *out, *except;
};

struct copies {
  explicit copies(const sets& s) noexcept {
    const std::size_t bytes = (static_cast<std::size_t>(s.n) + 63) / 64 * 8;
    const fd_set* const from[] = {s.in, s.out, s.except};
    for (int i = 0; i < 3; ++i)
      if (from[i] != nullptr) std::memcpy(&set[i], from[i], bytes);
  }
  void put_back(const sets& s) const noexcept {
    const std::size_t bytes = (static_cast<std::size_t>(s.n) + 63) / 64 * 8;
    fd_set* const to[] = {s.in, s.out, s.except};
    for (int i = 0; i < 3; ++i)
      if (to[i] != nullptr) std::memcpy(to[i], &set[i], bytes);
  }
  fd_set set[3];
};

long ask(const sets& s, timespec* left, const void* mask) noexcept {
  return kernel::pselect6(s.n, s.in, s.out, s.except, left, mask);
}

long look(const sets& s) noexcept {
  timespec now{};
  return ask(s, &now, nullptr);
}

long bare_select(const caller& by, const sets& s, std::int64_t deadline,
                 const void* mask) noexcept {
  return in_blocking(by, [&] {
    timespec left = left_until(deadline);
    return ask(s, deadline == foreign::kNoDeadline ? nullptr : &left, mask);
  });
}

bool has(const fd_set* set, int fd) noexcept { return set != nullptr && FD_ISSET(fd, set); }

unsigned list(const sets& s, pollfd* to) noexcept {
  unsigned n = 0;
  for (int fd = 0; fd < s.n; ++fd) {
    int events = 0;
    if (has(s.in, fd)) events |= POLLIN;
    if (has(s.out, fd)) events |= POLLOUT;
    if (has(s.except, fd)) events |= POLLPRI;
    if (events != 0) to[n++] = {fd, static_cast<short>(events), 0};
  }
  return n;
}

// Nothing is ready now, and the sets are as they were given.
long wait_for(const caller& by, const sets& s, const copies& wanted,
              std::int64_t deadline) noexcept {
  const std::unique_ptr<pollfd[]> fds(new (std::nothrow) pollfd[static_cast<std::size_t>(s.n)]);
  const unsigned n = fds == nullptr ? 0 : list(s, fds.get());
  if (n == 0 || must_not_park(by)) return bare_select(by, s, deadline, nullptr);
  const long ready = park_until_ready(by, fds.get(), n, deadline);
  if (ready < 0) return ready;
  for (unsigned i = 0; i < n; ++i)
    if ((fds[i].revents & POLLNVAL) != 0) return -EBADF;
  const long now = look(s);
  if (now != 0 || is_over(deadline)) return now;
  wanted.put_back(s);
  return bare_select(by, s, deadline, nullptr);
}

long select_until(const caller& by, const sets& s, std::int64_t deadline,
                  const sigset_t* mask) noexcept {
  if (mask != nullptr) {
    const struct {
      const sigset_t* set;
      std::size_t bytes;
    } kernels{mask, 8};
    return bare_select(by, s, deadline, &kernels);
  }
  if (s.n == 0 && deadline != foreign::kNoDeadline && !must_not_park(by)) {
    park_until(by, deadline);
    return 0;
  }
  if (s.n <= 0 || s.n > FD_SETSIZE) return bare_select(by, s, deadline, nullptr);
  const copies wanted(s);
  const long now = look(s);
  if (now != 0 || is_over(deadline)) return now;
  wanted.put_back(s);
  return wait_for(by, s, wanted, deadline);
}

long select_for(const caller& by, const sets& s, timeval* t) noexcept {
  if (t == nullptr) return select_until(by, s, foreign::kNoDeadline, nullptr);
  if (t->tv_sec < 0 || t->tv_usec < 0) return -EINVAL;
  const timespec whole{t->tv_sec + t->tv_usec / 1'000'000, t->tv_usec % 1'000'000 * 1000};
  const std::int64_t deadline = deadline_of(&whole);
  const long n = select_until(by, s, deadline, nullptr);
  if (deadline == foreign::kNoDeadline) return n;
  const timespec left = left_until(deadline);
  *t = {left.tv_sec, left.tv_nsec / 1000};
  return n;
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

int select(int n, fd_set* in, fd_set* out, fd_set* except, timeval* t) {
  if (!caught(symbol::select_)) return bare().select(n, in, out, except, t);
  return static_cast<int>(give(select_for(VOLE_CALLER(select), {n, in, out, except}, t)));
}

int pselect(int n, fd_set* in, fd_set* out, fd_set* except, const timespec* t,
            const sigset_t* mask) {
  if (!caught(symbol::pselect_)) return bare().pselect(n, in, out, except, t, mask);
  const bool wrong =
      t != nullptr && (t->tv_sec < 0 || t->tv_nsec < 0 || t->tv_nsec >= 1'000'000'000);
  const sets s{n, in, out, except};
  return static_cast<int>(
      give(wrong ? -EINVAL : select_until(VOLE_CALLER(pselect), s, deadline_of(t), mask)));
}

}  // extern "C"
