// Goroutines that keep a P too long: sysmon's half of preemption [27], [29], [30].
//
// A goroutine that runs on, and one that sleeps in the kernel without having said so, look
// the same from outside: the P's tick stands still. The thread's CPU clock tells them apart.
//
//     same tick, and somebody needs the P
//       in blocking(), the same call as a look ago       take the P
//       its CPU clock moves                              its slice is counted in CPU time:
//         after 10 ms, or 1 ms if a timer or the           ask it to yield; still there at
//         network is waiting                               the next look: take the P
//       its CPU clock stands still for 200 us            the kernel says that it sleeps:
//                                                          take the P
//     same tick, nobody needs the P
//       in the same call, or asleep, for 10 ms           take it all the same: as long as a
//                                                          P is in use, sysmon ticks
//
// Who    sysmon.
// Law    a P is taken from a thread that runs only if somebody needs it: no P is idle, and
//        there is work that this one keeps from running. A wrong guess costs an eviction, never
//        correctness: the thread runs on, and comes in again like every evicted one [24].
// Note   slices count CPU time: a thread that the kernel does not let run has not hogged
//        anything.
#pragma once

#include <cstdint>

#include "gmp/p.h"

namespace vole::rt::slices {

// The work that waits for a P, apart from the P's own queue.
enum class demand : std::uint8_t {
  none,
  work,    // the global queue
  urgent,  // a timer is due, or the network has come
};

enum class finding : std::uint8_t {
  nothing,
  suspicion,  // look again soon
  in_call,    // look again very soon
  taken,
};

// One look at one P.
finding look(P& p, demand others, std::int64_t now) noexcept;

// VOLE_DEBUG=storm: takes every P whose M is in user code, needed or not.
void evict_all() noexcept;

void begin() noexcept;  // a runtime starts

}  // namespace vole::rt::slices
