// Taking a P away from a thread that is in user code (docs/design/0002-retake.md).
//
// Three steps: hide the P; have every core pass a barrier (os::membarrier); look. Between hide and
// look the M's retake lock is held. The steps are apart so that a stop needs one barrier for all.
//
// Who    the world-stopper, sysmon, and the thread that asks for safe points.
// Law    attention is set before hiding: a look that fails proves that the M is inside and
//        will see it on its way out.
// Proof  tests/model/retake_model.cc
#pragma once

#include "gmp/m.h"
#include "gmp/p.h"

namespace vole::rt {

// The goroutine's thread has no P any more; it has one again, or queues for one. Counted: as long
// as there is such a thread, it competes with the others for the processors.
void become_evicted(G& g, g_status from = g_status::running) noexcept;
void end_eviction(G& g, g_status to) noexcept;

}  // namespace vole::rt

namespace vole::rt::retake {

// The M whose P is p, with its retake lock held; nullptr: p is in flight, and the M that gets it will
// look around by itself. To hold several at once, go by P number.
M* lock_owner(P* p) noexcept;
// The same, and the P is hidden.
M* hide(P* p) noexcept;

// After the barrier: is it ours? The retake lock is still held, and stays so. If yes, the goroutine
// has become `evicted` and runs on; m->away is the P.
bool look(M* m, P* p) noexcept VOLE_REQUIRES(m->retake_lock);

// All of it for one P that is to be used elsewhere: hands it off. False: the M is inside the
// runtime, and has been asked to yield. runs_on: the thread will compete with others for a
// processor, and should come after them. sysmon.
bool evict(P* p, bool runs_on) noexcept;

// Moves the P's ready_next to its ring, where thieves look; the P stays where it is. False: as above.
bool expose(P* p) noexcept;

}  // namespace vole::rt::retake
