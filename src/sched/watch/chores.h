// What sysmon does besides looking at the Ps: each at its own time, and mostly nothing.
//
// Who    sysmon.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sched/policy/pace.h"

namespace vole::rt::sysmon {

inline constexpr std::int64_t kUnsettledCheck = 10 * kMilli;  // something is not yet as it will be

void begin_chores(std::int64_t now) noexcept;  // a runtime starts

// Returns idle stacks to the system, at most once a second. 0: none is left that is warm.
std::size_t trim_stacks(std::int64_t now) noexcept;
// [3]: at most once a second, unless the program or the environment said how many.
void follow_cpu_count(std::int64_t now) noexcept;
// A P lies idle for want of a thread: perhaps there can be one now.
void ask_for_threads(std::int64_t now) noexcept;
// Strict mode: no thread can be had, perhaps because a captured thread is in the loader; or a P lies
// idle for want of one while captured threads wait for a P.
void release_captured(std::int64_t now) noexcept;
// VOLE_DEBUG=storm. Returns how long until the next look.
std::int64_t storm(std::int64_t now, std::int64_t delay) noexcept;

}  // namespace vole::rt::sysmon
