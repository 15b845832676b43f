// The sleep of an idle M, and its end: a thread that is one too many, and has slept for some
// seconds, is given back to the system.
//
// Ms that sleep are a stack: the one that went last is woken first. Beyond as many as there are Ps
// and a few, those at the bottom are needed only by a burst of blocking calls as large as the last
// one. An M that lies that high when it goes to sleep sets itself a time limit. Bursts that follow each
// other within that time find their threads; afterwards each ends by itself, and nobody ticks.
//
//     the waker (holds L)               the sleeper, its time being over
//     takes the M off the list          L
//     idle = false                      idle? off the list : somebody has taken us off
//     writes next_p, releases L         releases L
//     wakes the note                    idle was true: ends. Otherwise: sleeps until the wake
//
// Law    I7: an M is taken off the list under L, by one waker or by itself. One that a waker has
//        taken off waits for that wake, however late it is: a P travels with it. While the world is
//        stopped nobody leaves: the end of the runtime counts on those it has seen asleep.
// Note   written against an Env, so that tests/model runs this very text.
// Proof  tests/model/surplus_model.cc
#pragma once

#include "sched/work/parking_words.h"

namespace vole::rt::surplus {

using namespace base;

// The M stands on the idle list, pushed under L in this sleep. False: it has left it; its thread
// must end. True: its note was woken.
template <class Env, class M>
bool sleep(Env& env, M& m, bool too_many) noexcept {
  while (too_many && !m.park.sleep_for(env.patience())) {
    env.lock();
    too_many = env.is_idle_locked(m) && env.too_many_locked();
    const bool leaves = too_many && !env.stopping().load(relaxed);
    if (leaves) parking::remove_idle_m_locked(env, m);
    env.unlock();
    if (leaves) return false;
  }
  m.park.sleep();
  return true;
}

}  // namespace vole::rt::surplus
