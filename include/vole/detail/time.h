// Times as the compiled rooms take them: nanoseconds of the steady clock. Not for users.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace vole {
inline namespace v0 {

using duration = std::chrono::nanoseconds;
using time_point = std::chrono::steady_clock::time_point;

namespace detail {

inline constexpr std::int64_t kNeverNs = std::numeric_limits<std::int64_t>::max();

void sleep_until_ns(std::int64_t when) noexcept;

// time_point::max() is never.
inline std::int64_t to_ns(time_point t) noexcept {
  if (t == time_point::max()) return kNeverNs;
  return std::chrono::duration_cast<duration>(t.time_since_epoch()).count();
}
inline time_point from_ns(std::int64_t ns) noexcept {
  if (ns == kNeverNs) return time_point::max();
  return time_point(std::chrono::duration_cast<time_point::duration>(duration(ns)));
}
// Now + d, without overflow: too far away is never.
inline std::int64_t deadline_after(duration d) noexcept {
  const std::int64_t now = to_ns(std::chrono::steady_clock::now());
  return d.count() >= kNeverNs - now ? kNeverNs : now + d.count();
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
