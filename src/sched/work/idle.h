// An M with nothing to do: D5-D7 of the parking protocol.
//
// One of the Ms without work waits in the poller, for the network and for the first timer
// of all; the others sleep on their notes. `last_poll` says whether one does:
//
//     adding a timer, opening a file     going to wait
//     writes it          (seq_cst)       last_poll = 0              (seq_cst)
//     reads last_poll    (seq_cst)       reads every first timer, then waits
//     0: breaks the wait                 (a break that comes early is not lost)
//
// Law    I9: whenever a timer is pending or a file is open and some P is idle, an M waits in
//        the poller, with a deadline no later than the first timer, or is on its way there
//        or out of it; or sysmon looks in its place, which happens only beside a busy P: the
//        M that goes idle last finds every P idle, and waits (network_is_seen_to).
// Note   an M that comes out takes an idle P. If there is none, all Ps are busy and will
//        look themselves.
#pragma once

#include "gmp/m.h"
#include "sched/state.h"

namespace vole::rt {

// The M has no P and does not spin. Sleeps until it has one (perhaps with work in it, perhaps to
// look for some). False: the thread must end.
bool rest_g0(M& m) noexcept;

// Is there anything to wait for in the poller?
bool worth_polling() noexcept;

// A P is about to go idle without an M that would go to wait: is it the last one, with nobody in the
// poller [22]?
bool must_keep_polling_locked() noexcept VOLE_REQUIRES(sched.lock);

// Has the poller's M a later deadline than the first timer, or has it not said yet which one? Then
// it is told. (Timers that moved from one P to another while it read them are in none: resize.)
void tell_poller() noexcept;

}  // namespace vole::rt
