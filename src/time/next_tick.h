// When a ticker is due again.
//
// Law    the result is due + k * period, k >= 1, and later than now: ticks that were missed, by a
//        microsecond or by a night's suspend, are one tick, and the rest stays in step.
// Proof  src/time/next_tick_test.cc
#pragma once

#include <cstdint>

namespace vole {
inline namespace v0 {
namespace detail {

// period > 0. Beyond the clock's last nanosecond: INT64_MAX, which is never.
constexpr std::int64_t next_tick(std::int64_t due, std::int64_t period, std::int64_t now) noexcept {
  std::int64_t next = 0;
  const std::int64_t late = now > due ? now - due : 0;
  if (__builtin_mul_overflow(late / period, period, &next) ||
      __builtin_add_overflow(next, period, &next) || __builtin_add_overflow(next, due, &next))
    return INT64_MAX;
  return next;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
