// The wake policy: is a thread woken for work, and was it worth it? (docs/design/0010-second-core.md)
//
// The parking protocol (sched/work/parking.h) sees to it that no work is forgotten. This room decides
// when a second thread pays, which is never a question of correctness: the rest of sched tells it what
// happens, and asks it before it wakes somebody. Another policy is another text for the files of this
// folder.
//
// Wasted wake-ups. A wake-up is wasted if the thread that was woken for a P's work had nothing to do
// for as long as three wake-ups take. After four in a row nobody is woken for that P's work, and
// thieves pass it over, except when sysmon invites one: less and less often, unless there are
// newborns. A wake-up that was worth it ends that. Other Ps are not concerned.
//
// Contention. Goroutines on two cores that fight for one lock get less done than they would in turn on
// one: the lock's line alone takes 85 ns to cross, longer than the work under it. So a thread that has
// met others at channels' or mutexes' locks too often in a row retires: its queue goes to the global
// queue, its P becomes idle, and wake-ups for the work of that P and of its rival's count as wasted.
//
// The network. If the client, or another program, has the other processors, a second thread only takes
// turns with the first. So threads that are woken for what the poller brings are on probation: for
// which part of the time since they were called did they run? While it is less than three quarters,
// batches are run in turn by the P that got them, nobody waits in the poller beside it, and sysmon
// calls a thief when that P has not rested for long or makes no switch.
//
// Deferred wake-ups. What was put into ready_next, or yielded, or left over by all of the above, wakes
// nobody at first (sched/work/wake.h). sysmon looks at each P (look.h) and makes up for it.
//
// Who    the scheduler, in the runtime. _g0: on g0, holding a P.
// Law    its words are P::wakes, M::wakes and what state.h has; no other file touches them
//        (tools/rules.txt). A thread retires only beside one that has a P and has met others just now.
// Proof  policy_test.cc, invite_test.cc
#pragma once

#include "gmp/m.h"
#include "gmp/p.h"

namespace vole::rt::wake_policy {

inline constexpr std::uint8_t kManyWasted = 4;  // so many are a pattern

// ── questions ──

// Is a thread woken at once for what p has made runnable? If not, sysmon calls a thief later.
inline bool wakes_for(const P& p) noexcept { return p.wakes.wasted.load(relaxed) < kManyWasted; }
// seq_cst: an invitation is published work, step S1 of the parking protocol.
inline bool refuses_thieves(const P& p) noexcept {
  return !wakes_for(p) && !p.wakes.invites.load(seq_cst);
}
// Do threads that are woken for what the poller brought get a processor to run on?
bool polled_pays() noexcept;
// If they do not: will some P look at the network itself once it has run the last batch? Then no other
// thread need wait for it.
bool network_is_seen_to() noexcept;
// How long does a thread sleep that is one too many (sched/work/surplus.h)? And is this one, if so
// many sleep?
std::int64_t surplus_patience() noexcept;
bool too_many(std::size_t idle_ms) noexcept;

// ── what happens to a P ──
inline void rests(P& p) noexcept {  // it becomes idle
  p.wakes.has_batch.store(false, relaxed);
  p.wakes.invites.store(false, relaxed);
}
// It has a batch from the poller, and nobody is called for it.
inline void keeps_batch(P& p) noexcept { p.wakes.has_batch.store(true, relaxed); }

// ── what happens to an M ──
// Before the wake: it is woken to search, or for one goroutine that only it may run.
void is_woken(M& m, const reason& why) noexcept;
inline void is_woken_for_one(M& m) noexcept {
  m.wakes.why.kind = probation::none;
  m.wakes.called_at = 0;
}
void comes_awake(M& m) noexcept;       // it has a P now
void comes_from_poller(M& m) noexcept;  // with a batch, beside others that run
void stole(M& m, P& victim) noexcept;
void looks_for_theft_g0(M& m) noexcept;  // it has run what it stole
void finds_nothing_g0(M& m) noexcept;    // and gives up its P
inline void is_new(M& m) noexcept {  // a record is used again
  m.wakes.contended = 0;
  m.wakes.stole_at = m.wakes.called_at = 0;
}

// True: it has met others at locks too often, and has no P any more.
bool retires_g0(M& m) noexcept;
// True: it was called for the poller, has had its time, and should leave the rest to others.
bool gives_way_g0(M& m) noexcept;

void reset() noexcept;  // the runtime has ended

}  // namespace vole::rt::wake_policy
