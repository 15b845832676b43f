// When the second core does not pay.
//
// Goroutines on two cores that fight for one lock get less done than they would in turn on
// one: the lock's line alone takes 85 ns to cross, longer than the work under it. So a thread that
// has met others at channels' or mutexes' locks too often in a row retires: its queue goes to the
// global queue, its P becomes idle, and wake-ups for the work of that P and of its rival's count as
// wasted (P::wasted_wakes, sched/work/wake.h) until one has been worth it. Thieves pass such Ps over.
// sysmon invites one again (P::invites), less and less often. Other Ps are not concerned: a goroutine
// that they make runnable calls a thief at once.
//
// Goroutines that the poller brings are another case: if the client, or another program, has the other
// processors, a second thread only takes turns with the first. So threads that are woken for them are
// on probation: for which part of the time since they were called did they run? While it is less than
// three quarters, batches are run in turn by the P that got them (P::polled), nobody waits in the
// poller beside it, and sysmon calls a thief when that P has not rested for long or makes no switch.
//
// Who    chan, sync: note_contention. g0 calls the rest, sysmon nobody_sees_to_network.
// Law    a thread retires only beside one that has a P and has met others just now, too.
#pragma once

#include "gmp/m.h"
#include "sched/state.h"

namespace vole::rt {

// The M found a channel's lock or a mutex held, or changing, because of another thread. On a
// goroutine's thread, in user context or inside.
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
// If they do not: should this thread, which was called for the poller and has had its time, leave the
// rest to others?
bool gives_way_g0(M& m) noexcept;
// If they do not: will some P look at the network itself once it has run the last batch? Then no other
// thread need wait for it.
bool network_is_seen_to() noexcept;
void nobody_sees_to_network() noexcept;  // sysmon has found out

// Goroutines were stolen, and later have been run: was that worth it? g0, holding a P.
void note_theft(M& m, P& victim) noexcept;
void assess_theft(M& m) noexcept;

}  // namespace vole::rt
