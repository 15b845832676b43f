// Timers: when they are due, and which thread fires them.
//
// Every P has a timer_set of them. They are fired on g0 by the P's own M whenever it looks for
// work, by a thief in its last round [14], or by the M that was in the poller until one was due.
// Until then one of these sleeps:
//
//     somebody has no work     the last of those Ms waits in the poller until the first timer
//                              of all is due (sched/work/idle.h), on an idle P's behalf
//     all Ps are busy          sysmon: it has the M's attention called, which g0 answers
//
// Who    add, stop: any thread in user context or in the runtime, no lock above
//        lock_rank::timer held. fire_due_timers: g0, with a P.
// Law    a timer's record is touched by nobody else after stop_timer returned, or
//        after its fire function has run (which may end the record's life itself, or add
//        it again).
// Law    a thread that adds a timer which comes first makes sure that somebody will wake up for
//        it (I9): it writes `first`, then reads last_poll; the poller writes last_poll, then
//        reads every `first`. One of the two sees the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gmp/m.h"
#include "timer/timer_set.h"

namespace vole::rt {

// Timers that follow each other this closely are fired together.
inline constexpr std::int64_t kGather = 50 * 1000;  // ns

// `t` stands nowhere. m: the caller's M, which has a P; null: a guest. Fatal if the kernel refuses
// memory.
void add_timer(M* m, timer* t, std::int64_t when) noexcept;

// Adds a goroutine that is to be made runnable then, and can be woken by nothing else. Its
// context is saved, its status is waiting. m has a P.
void add_sleeper(M& m, G* g, std::int64_t when) noexcept;

// Adds a timer once more: called by its own fire function, on the M that fires it.
void add_timer_again(M* m, timer* t, std::int64_t when) noexcept;

// True: it will not fire. False: it has fired or was never added; in either case nobody uses the
// record any more (waits, briefly, if it is being fired right now).
bool stop_timer(timer* t) noexcept;

// When the first timer of this P is due, or kNoTimer.
std::int64_t first_timer(std::uint32_t p) noexcept;
// The first of all. What was added before it was called, in the order of seq_cst, counts.
std::int64_t first_of_all_timers() noexcept;

// Fires what is due on that P's timer_set. True: it fired one.
bool fire_due_timers(M& m, std::uint32_t p, std::int64_t now) noexcept;
void fire_all_due_timers(M& m, std::int64_t now) noexcept;  // every P's
std::uint64_t timers_fired() noexcept;                      // ever; a hint

void adopt_timers(std::uint32_t dead, std::uint32_t heir) noexcept;  // [33]: the world is stopped
std::size_t pending_timers() noexcept;
std::size_t timers_of(std::uint32_t p) noexcept;  // at least; those that are being fired included
std::uint32_t timer_generation() noexcept;        // another one in each runtime; inside only
void forget_timers() noexcept;  // the runtime ends: nobody is inside, sysmon has stopped

}  // namespace vole::rt
