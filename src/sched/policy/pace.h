// How often sysmon looks [26]: every 20 us while it takes Ps, less and less often while there is
// nothing to see.
//
// Who    sysmon.
#pragma once

#include <cstdint>

#include "sched/policy/slices.h"

namespace vole::rt::sysmon {

inline constexpr std::int64_t kMicro = 1000, kMilli = 1000 * kMicro, kSecond = 1000 * kMilli;
inline constexpr std::int64_t kShortest = 20 * kMicro;  // while calls block
inline constexpr std::int64_t kFirst =
    200 * kMicro;  // after a rest: a call that may block wakes it
inline constexpr std::int64_t kSuspicious = 200 * kMicro;
inline constexpr std::int64_t kLongest = 1 * kMilli;  // while a P is busy
inline constexpr std::int64_t kNetworkPollEvery = 1 * kMilli;  // polls, if nobody has since [28]
inline constexpr int kQuietLooks = 50;                  // looks without news before backing off

// How long until the next look. quiet: so many looks without news.
inline std::int64_t next_delay(slices::finding f, std::int64_t delay, int& quiet) noexcept {
  if (f == slices::finding::nothing) {
    if (++quiet > kQuietLooks) delay *= 2;
    return delay < kLongest ? delay : kLongest;
  }
  if (f == slices::finding::suspicion) return kSuspicious;  // and if it was nothing, as before
  quiet = 0;
  return kShortest;
}

}  // namespace vole::rt::sysmon
