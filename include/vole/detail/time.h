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
void sleep_for_ns(std::int64_t ns) noexcept;  // more than none

// time_point::max() is never.
inline std::int64_t to_ns(time_point t) noexcept {
  if (t == time_point::max()) return kNeverNs;
  return std::chrono::duration_cast<duration>(t.time_since_epoch()).count();
}
inline time_point from_ns(std::int64_t ns) noexcept {
  if (ns == kNeverNs) return time_point::max();
  return time_point(std::chrono::duration_cast<time_point::duration>(duration(ns)));
}
// now + ns, without overflow: too far away is never.
constexpr std::int64_t later(std::int64_t now, std::int64_t ns) noexcept {
  return ns >= kNeverNs - now ? kNeverNs : now + ns;
}
inline std::int64_t deadline_after(duration d) noexcept {
  return later(to_ns(std::chrono::steady_clock::now()), d.count());
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
