// Times as the compiled rooms take them: nanoseconds of the steady clock. Not for users.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

#include <vole/duration.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

namespace detail {

inline constexpr std::int64_t kNeverNs = std::numeric_limits<std::int64_t>::max();

std::int64_t now_ns() noexcept;  // the clock that the scheduler reads, too

// A number of anything as whole nanoseconds: what is too much is the most or the least there is, what
// is no number is none.
template <class Rep>
constexpr duration saturated_ns(Rep nanoseconds) noexcept {
  constexpr Rep kTooMuch = static_cast<Rep>(9223372036854775808.0);  // 2^63
  if (nanoseconds >= kTooMuch) return duration::max();
  if (nanoseconds < -kTooMuch) return duration::min();
  return duration(nanoseconds == nanoseconds ? static_cast<std::int64_t>(nanoseconds) : 0);
}
template <class Rep, class Period>
constexpr duration to_duration(std::chrono::duration<Rep, Period> d) noexcept {
  using ratio = std::ratio_divide<Period, std::nano>;
  if constexpr (std::is_same_v<decltype(d), duration>) {
    return d;
  } else if constexpr (std::integral<Rep> && ratio::den == 1) {
    std::int64_t ns = 0;
    if (!__builtin_mul_overflow(d.count(), ratio::num, &ns)) return duration(ns);
    return d.count() > 0 ? duration::max() : duration::min();
  } else if constexpr (std::integral<Rep> && ratio::num == 1) {
    using wide = std::common_type_t<Rep, std::int64_t>;
    return duration(static_cast<std::int64_t>(wide{d.count()} / wide{ratio::den}));
  } else {
    return saturated_ns(std::chrono::duration<long double, std::nano>(d).count());
  }
}

// The type of a parameter that takes any std::chrono::duration.
class any_duration {
 public:
  template <class Rep, class Period>
  constexpr any_duration(std::chrono::duration<Rep, Period> d) noexcept : d_(to_duration(d)) {}
  template <class T>
  requires(!std::same_as<T, any_duration> &&
           std::convertible_to<const T&, duration>) constexpr any_duration(const T& d) noexcept
      : d_(d) {}
  template <class N>
    requires std::is_arithmetic_v<N>
  any_duration(N) = delete;  // a number is not a duration: give it a unit, as in 5ms or seconds(5)
  constexpr operator duration() const noexcept { return d_; }

 private:
  duration d_;
};

void sleep_until_ns(std::int64_t when) noexcept;
void sleep_for_ns(std::int64_t ns) noexcept;  // more than none

// time_point::max() is never.
inline std::int64_t to_ns(time_point t) noexcept {
  if (t == time_point::max()) return kNeverNs;
  return std::chrono::duration_cast<duration>(t.time_since_epoch()).count();
}
// The type of a parameter that takes any time of the steady clock, or of another clock: as far from
// now as it is by that clock. max() is never.
class any_time_point {
 public:
  constexpr any_time_point(time_point t) noexcept : t_(t) {}
  template <class Duration>
  constexpr any_time_point(std::chrono::time_point<std::chrono::steady_clock, Duration> t) noexcept
      : t_(t == t.max() ? time_point::max() : time_point(to_duration(t.time_since_epoch()))) {}
  template <class Clock, class Duration>
  requires requires { Clock::now(); }
  any_time_point(std::chrono::time_point<Clock, Duration> t) noexcept
      : t_(t == t.max() ? time_point::max()
                        : from_now(to_duration(t.time_since_epoch()),
                                   to_duration(Clock::now().time_since_epoch()))) {}
  constexpr operator time_point() const noexcept { return t_; }

 private:
  static time_point from_now(duration when, duration by_that_clock) noexcept;

  time_point t_;
};

inline time_point from_ns(std::int64_t ns) noexcept {
  if (ns == kNeverNs) return time_point::max();
  return time_point(std::chrono::duration_cast<time_point::duration>(duration(ns)));
}
// now + ns, without overflow: too far away is never.
constexpr std::int64_t later(std::int64_t now, std::int64_t ns) noexcept {
  return ns >= kNeverNs - now ? kNeverNs : now + ns;
}
inline std::int64_t deadline_after(duration d) noexcept {
  return later(now_ns(), d.count());
}
inline time_point any_time_point::from_now(duration when, duration by_that_clock) noexcept {
  std::int64_t ns = 0;
  if (__builtin_sub_overflow(when.count(), by_that_clock.count(), &ns))
    ns = when > by_that_clock ? kNeverNs : -kNeverNs;
  return from_ns(deadline_after(duration(ns)));
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
