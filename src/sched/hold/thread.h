// Ms and Ps: how a P gets to a thread, and where threads come from.
//
// Who    the scheduler, in the runtime.
// Law    parking::start_m never fails: it wakes an idle M or has a new one born, and the P
//        travels with it (I7: next_p and spinning are written before the wake). Where there can
//        be no thread more while evicted goroutines have theirs, the P waits for one of those.
//        Only the thread_maker, a thread without a P, ever calls pthread_create: a
//        thread frozen inside the loader can block it, never the scheduler.
#pragma once

#include "gmp/m.h"
#include "gmp/p.h"

namespace vole::rt {

// ── ownership of a P ── takes the M's retake lock
void acquire_p(M& m, P* p) noexcept;
P* release_p(M& m) noexcept;
// Likewise, for one who lends its P to the stopper of the world: a trace does not hear of it.
void attach_p(M& m, P* p) noexcept;
P* detach_p(M& m) noexcept;

// ── the idle list ── under the scheduler lock
P* pop_idle_p_locked(P* preferred) noexcept;  // nullptr: none, or the world is stopping
void put_idle_p_locked(P* p) noexcept;

// What p has queued goes to the head of the global queue.
void drain_queue_locked(P* p) noexcept;
// The thread that was to be made for m cannot be had: the P that travels with it is idle, until one
// that was evicted comes in and takes it [24]. Its work is everybody's. Breaks I1 as long as that
// takes; sysmon asks again from time to time.
void call_off_locked(M& m) noexcept;

// ── Ms ──
// Sleeps as an idle M. False: the thread must end. Otherwise the M owns a P.
bool stop_m(M& m) noexcept;
// The M gives its P to whoever needs one [22]. It must not use it afterwards.
void hand_off(P* p) noexcept;

// For those who sleep on m.park by themselves.
bool awake(M& m) noexcept;                    // after the sleep; as stop_m
void tell_the_ender() noexcept;               // before it: an M has settled

// ── births and deaths ──
void m_main(void* m) noexcept;                // a thread's life
void end_m(M& m) noexcept;                    // the thread's last words, on its own stack

}  // namespace vole::rt
