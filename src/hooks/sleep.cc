// sleep, usleep, nanosleep, clock_nanosleep.
//
// Law    a goroutine that sleeps hears of no signal, so all of the time has passed: nothing is left.
// Note   until a time of the wall's clock, which somebody may set, is the kernel's to wait for: the
//        bare call, in blocking(). So is every clock but the two that go on by themselves.

#include <cerrno>

#include "hooks/callers.h"
#include "hooks/wait.h"

namespace vole::hooks {
namespace {

bool is_right(const timespec* t) noexcept {
  return t != nullptr && t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1'000'000'000;
}

bool may_park(const caller& by, clockid_t clock, int flags) noexcept {
  if (must_not_park(by)) return false;
  return clock == CLOCK_MONOTONIC || (clock == CLOCK_REALTIME && (flags & TIMER_ABSTIME) == 0);
}

long sleep_on(const caller& by, clockid_t clock, int flags, const timespec* t,
              timespec* left) noexcept {
  if (!is_right(t) || !may_park(by, clock, flags))
    return in_blocking(by, [=] { return kernel::clock_nanosleep(clock, flags, t, left); });
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t until = deadline_of(t);
  if ((flags & TIMER_ABSTIME) != 0)
    until = t->tv_sec > INT64_MAX / kSecond - 1 ? foreign::kNoDeadline
                                                : t->tv_sec * kSecond + t->tv_nsec;
  if (is_over(until)) return 0;
  park_until(by, until);
  return 0;
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

unsigned sleep(unsigned seconds) {
  if (!caught(symbol::sleep_)) return bare().sleep(seconds);
  const timespec t{seconds, 0};
  timespec left{};
  if (sleep_on(VOLE_CALLER(sleep), CLOCK_REALTIME, 0, &t, &left) == 0) return 0;
  return static_cast<unsigned>(left.tv_sec + (left.tv_nsec >= 500'000'000 ? 1 : 0));
}

int usleep(useconds_t us) {
  if (!caught(symbol::usleep_)) return bare().usleep(us);
  const timespec t{us / 1'000'000, static_cast<long>(us % 1'000'000) * 1000};
  return static_cast<int>(give(sleep_on(VOLE_CALLER(usleep), CLOCK_REALTIME, 0, &t, nullptr)));
}

int nanosleep(const timespec* t, timespec* left) {
  if (!caught(symbol::nanosleep_)) return bare().nanosleep(t, left);
  return static_cast<int>(give(sleep_on(VOLE_CALLER(nanosleep), CLOCK_REALTIME, 0, t, left)));
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* t, timespec* left) {
  if (!caught(symbol::clock_nanosleep_)) return bare().clock_nanosleep(clock, flags, t, left);
  return static_cast<int>(-sleep_on(VOLE_CALLER(clock_nanosleep), clock, flags, t, left));
}

}  // extern "C"
