// sysmon: the watcher without a P [26].
//
// It keeps the coarse clock, and calls at each look those that have something to see to: due timers
// (due_timers.h), threads that block or run on too long (policy/slices.h), deferred wake-ups and
// thieves (wake_policy/look.h), the network if nobody else polls it (work/netpoll.h), idle stacks, the
// number of processors [3] and others (chores.h), deadlocks, stalls, and schedtrace's lines.
//
// Law    it never needs a P, a malloc or a user's lock. When every P is idle it
//        sleeps until somebody takes one; an idle program does not tick. Before that it
//        makes up to two idle looks, a millisecond apart: a server is idle between any two
//        requests, and waking sysmon for each would cost more than the request.
#pragma once

#include <cstdint>

#include "sched/state.h"

namespace vole::rt::sysmon {

int start() noexcept;           // 0 or errno
void stop() noexcept;
void wake_by(std::int64_t when) noexcept;  // a timer is due then, before all others
// Wakes it if it looks more seldom than that: a call may block.
inline constexpr std::int64_t kCallMost = 100 * 1000;
void hurry(std::int64_t slower_than) noexcept;
void wake_locked() noexcept VOLE_REQUIRES(sched.lock);  // a P left the all-idle state; under the scheduler lock

// For tests: does it sleep because every P is idle? How often was it woken?
bool is_asleep() noexcept;
std::uint32_t times_roused() noexcept;

}  // namespace vole::rt::sysmon
