// Time as vole's calls give it: duration and time_point. Included by vole/time.h, and by every header
// with a call that takes a time.
#pragma once

#include <chrono>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// Whole nanoseconds. A call that takes a duration takes any std::chrono::duration (vole/time.h).
using duration = std::chrono::nanoseconds;
// A time of the steady clock, which vole::now() reads.
using time_point = std::chrono::steady_clock::time_point;

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
