// Ms and Ps: how a P gets to a thread, and where threads come from.
//
// Who    the scheduler, in the runtime.
// Law    parking::start_m never fails: it wakes an idle M or has a new one made, and the P
//        travels with it (I7: next_p and spinning are written before the wake). If no thread
//        can be made while evicted goroutines have theirs, the P waits for one of those.
//        Only the thread maker, a thread without a P, ever calls pthread_create: a
//        thread frozen inside the loader can block it, never the scheduler.
#pragma once

#include "gmp/m.h"
#include "gmp/p.h"
#include "sched/state.h"

namespace vole::rt {

// ── ownership of a P ── takes the M's retake lock
void acquire_p(M& m, P* p) noexcept;
P* release_p(M& m) noexcept;
// The same for an M that lends its P to the stopper of the world: no trace is told of it.
void attach_p(M& m, P* p) noexcept;
P* detach_p(M& m) noexcept;

// ── the idle list ── under the scheduler lock
P* pop_idle_p_locked(P* preferred) noexcept VOLE_REQUIRES(sched.lock);  // nullptr: none, or the world is stopping
void put_idle_p_locked(P* p) noexcept VOLE_REQUIRES(sched.lock);

// Moves all that is queued at p to the head of the global queue.
void drain_queue_locked(P* p) noexcept VOLE_REQUIRES(sched.lock);
// The thread for m cannot be made: the P that travels with it becomes idle, until an evicted goroutine
// comes in and takes it [24], and its queue becomes global. That breaks I1 for as long as it takes;
// sysmon asks again from time to time.
void call_off_locked(M& m) noexcept VOLE_REQUIRES(sched.lock);

// ── Ms ──
// Sleeps as an idle M. False: the thread must end. Otherwise the M owns a P.
bool stop_m(M& m) noexcept;
// The M gives its P to an M that needs one [22]. It must not use it afterwards.
void hand_off(P* p) noexcept;
// m gives its P to `to`, which sleeps and is nobody else's to wake.
void give_p_g0(M& m, M& to) noexcept;

// For functions that sleep on m.park by themselves.
bool awake(M& m) noexcept;                    // after the sleep; as stop_m
void tell_the_ender() noexcept;               // before it: an M has settled

// ── begin and end of a thread ──
void m_main(void* m) noexcept;                // a thread's life
void end_m(M& m) noexcept;                    // the thread's last words, on its own stack

}  // namespace vole::rt
