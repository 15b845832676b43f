// When the second core does not pay.
//
// Goroutines on two cores that fight for one lock get less done than they would in turn on
// one: the lock's line alone takes 85 ns to cross, longer than what it guards. So a thread that
// has met others at the runtime's locks too often in a row retires: what it has queued goes to the
// global queue, its P becomes idle, and wake-ups for the work of that P and of its rival's are held
// to be in vain (P::wasted_wakes, sched/work/wake.h) until one has been worth it. Thieves pass such Ps over.
// sysmon invites one again (P::invites), less and less often. Other Ps are not concerned: what they
// make runnable calls a thief at once.
//
// What the poller brings is another case: where the client, or anybody else, has the other
// processors, a second thread only takes turns with the first. Such threads are on probation: which
// part of the time since they were called did they run? While it is less than three quarters,
// batches are run in turn by the P that got them (P::polled), nobody waits in the poller beside
// it, and sysmon calls a thief when that P has not rested for long or makes no switch.
//
// Who    chan, sync: note_contention. g0: the rest.
// Law    a thread retires only beside one that has a P and has met others just now, too.
#pragma once

#include "gmp/m.h"
#include "sched/state.h"

namespace vole::rt {

// A lock was held by somebody on another core. On a goroutine.
void note_contention(M& m) noexcept;

inline constexpr std::uint32_t kTooMuch = 8;  // meetings within kWindow

// On g0. True: the M has no P any more.
bool retire_g0(M& m) noexcept;

// A thread was woken to search; later it has nothing more to do: was it worth it?
void begin_probation(M& m) noexcept;
void assess_wake_up(M& m) noexcept;

// Do threads that are woken for what the poller brought get a processor to run on?
inline constexpr std::uint32_t kMostPolledWasted = 5;
inline bool polled_pays() noexcept { return sched.polled_wasted_wakes.load(relaxed) == 0; }
// The poller has woken this one, beside others that run.
void called_by_network(M& m) noexcept;
// If they do not: is such a one, which has had its time, to leave the rest to others?
bool gives_way_g0(M& m) noexcept;
// Likewise: is there somebody who looks at the network himself when he has seen to what it brought
// last? Then nobody else need wait for it.
bool network_is_seen_to() noexcept;
void nobody_sees_to_network() noexcept;  // sysmon has found out

// Goroutines were stolen, and have been run: likewise. g0, holding a P.
void note_theft(M& m, P& victim) noexcept;
void assess_theft(M& m) noexcept;

}  // namespace vole::rt
