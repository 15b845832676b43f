// Time: the clock and sleeping.
#pragma once

#include <chrono>

#include <vole/detail/time.h>

namespace vole {
inline namespace v0 {

// The clock all deadlines refer to.
inline time_point now() noexcept { return std::chrono::steady_clock::now(); }

// Parks the goroutine, or blocks the plain thread. Returns at once if the time is past.
inline void sleep_until(time_point t) noexcept { detail::sleep_until_ns(detail::to_ns(t)); }
inline void sleep_for(duration d) noexcept {
  if (d > duration::zero()) detail::sleep_until_ns(detail::deadline_after(d));
}

}  // namespace v0
}  // namespace vole
