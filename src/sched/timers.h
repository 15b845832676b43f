// Timers: what is due when, and who fires it.
//
// Who    add, stop: any thread in user context or in the runtime, no lock above
//        lock_rank::timer held. fire_due: sysmon.
// Law    a timer's record is touched by nobody else after stop_timer returned, or
//        after its fire function has run (which may end the record's life itself).
// Note   one heap for all, fired by sysmon: it sleeps no longer than until the first
//        timer is due, and an earlier one wakes it. An idle program has no tick.
#pragma once

#include <cstdint>

#include "timer/heap.h"

namespace vole::rt {

// `t` is not in the heap. Fatal if the kernel refuses memory.
void add_timer(timer* t, std::int64_t when) noexcept;

// True: it will not fire. False: it has fired or was never added; in either case nobody uses the
// record any more (waits, briefly, if it is being fired right now).
bool stop_timer(timer* t) noexcept;

// Fires what is due. Returns when the next one is, or kNoTimer.
inline constexpr std::int64_t kNoTimer = INT64_MAX;
std::int64_t fire_due_timers(std::int64_t now) noexcept;

std::size_t pending_timers() noexcept;  // one that is being fired included
void forget_timers() noexcept;  // the runtime ends: nobody is inside, sysmon has stopped

}  // namespace vole::rt
