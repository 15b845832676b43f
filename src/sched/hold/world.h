// Stopping the world: no P runs, nothing in the scheduler moves.
//
// The stopper never enters the runtime: it acts as a plain thread even on a
// goroutine, and takes that goroutine's P like every other. Idle Ps are taken from
// the list; Ps of Ms in user code are retaken (gmp/hot_words.h) and the user code
// runs on; Ms inside the runtime see the stop on their way out or in find and give
// their P up themselves. No signal, no waiting for user code.
//
// Who    set_max_procs, dumps and the end of the runtime, on any thread in user context; sysmon, for a
//        new number of processors and a page of scheddetail.
// Law    between stop and start every P is `stopped` (or dead) and belongs to the
//        stopper. Attention is set before hiding: a look that fails proves that the
//        M will see it.
// Note   afterwards each P goes back to the M it was taken from, if that one is
//        still in user code.
#pragma once

#include <cstdint>
#include <string_view>

#include "gmp/m.h"
#include "gmp/p.h"

namespace vole::rt::world {

void stop(std::string_view purpose) noexcept;  // one at a time; a second stopper waits. For traces: why
void start() noexcept;

// Between the two nobody stops the world, and no P comes or goes. One caller at a time; the runtime
// does not end under a goroutine that does it.
void keep_going() noexcept;
void may_stop() noexcept;

void begin() noexcept;  // the first start, at boot: every P is idle
void end() noexcept;    // instead of start, when the runtime is gone

// With the world stopped: makes it n Ps. Dead ones' goroutines go to the head of the global
// queue [33].
void resize(std::uint32_t n) noexcept;

// The ends of a stop inside the runtime.
void stop_here(M& m) noexcept;            // g0: gives the P up
void yield_p_to_stopper(M& m) noexcept;   // leaving into user code: gives the P up, runs on

}  // namespace vole::rt::world
