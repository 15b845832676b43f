// Safe-point functions [11]: a function that is run once for every P, by the P's owner.
//
//     the asker                                 the owner of a P
//     A1 under L: p.safe_point = 1 for all Ps;  O1 in find, after the stop request: attention = 0,
//        runs it for those on the idle list        then p.safe_point? runs it. Leaving the runtime
//     A2 asks p's M for attention, hides           with nothing else asked: the same
//        the P, membarrier (gmp/hot_words.h)    O2 takes a P: p.m = itself, then p.safe_point?
//     A3 in user code: runs it on behalf of p,     asks itself for attention
//        and p is back. Inside: it will see     O3 under L: puts p on the idle list: runs it first
//     A4 sleeps until all have run; from time
//        to time A2 again
//
// The doors' quick pick stands back while attention is asked for, so it needs no look of its own. A
// thread in user code does not notice anything: neither its P nor its slice is lost.
//
// Who    on_every_p: any thread in user context, a goroutine's too. on_every_p_inside: sysmon, and a
//        guest that is inside. Not a thread that is inside with a P: it would wait for itself.
// Law    the function is run exactly once for each P there is, by one thread at a time for each, and
//        the asker sees what it wrote. No P is made or goes meanwhile, and the world is not stopped:
//        the asker holds the stopper's lock, and a second asker waits.
//        The function may be run under L and under retake locks: it takes no lock of a rank below
//        lock_rank::thread_maker, waits for nothing, wakes nobody.
// Note   attention is asked for by kSafePoint if nobody asks for more. An M that finds that value
//        may put 0 in its place and go on; all other requests write 1, over it if need be, and are
//        answered as always: g0 looks at both. A handler of strict mode, and leave_in_place, leave
//        without answering: that is why A4 asks again.
//        If a P travels to a thread that is still being made, the asker waits for it, as a stop does.
//        Written against an Env, so that tests/model runs this very text.
// Proof  tests/model/safe_point_model.cc, tests/stress/safe_point_stress_test.cc
#pragma once

#include <cstdint>

#include "base/atomic.h"

namespace vole::rt::safe_point {

using namespace base;

inline constexpr std::uint32_t kSafePoint = 2;  // in an attention word

template <class Hot>
void ask(Hot& hot) noexcept {
  std::uint32_t nothing = 0;
  hot.attention.compare_exchange_strong(nothing, kSafePoint, seq_cst);
}

// True: nothing else was asked.
template <class Hot>
bool take_back(Hot& hot) noexcept {
  std::uint32_t asked = kSafePoint;
  return hot.attention.compare_exchange_strong(asked, 0, seq_cst);
}

// The caller owns p.
template <class Env, class P>
void run(Env& env, P& p) noexcept {
  if (p.safe_point.load(seq_cst) == 0) return;
  p.safe_point.store(0, relaxed);
  env.call(p);
  env.count_one();
}

// A1. n: how many Ps there are.
template <class Env>
void ask_all(Env& env, std::uint32_t n) noexcept {
  env.lock();
  for (std::uint32_t i = 0; i < n; ++i) env.p_at(i).safe_point.store(1, seq_cst);
  for (std::uint32_t i = 0; i < n; ++i)
    if (env.is_idle_locked(i)) run(env, env.p_at(i));
  env.unlock();
}

// A2, A3. Holds the retake locks of all Ms concerned, for one barrier.
template <class Env>
void visit_all(Env& env, std::uint32_t n) noexcept {
  for (std::uint32_t i = 0; i < n; ++i) {
    auto& p = env.p_at(i);
    auto* const m = p.safe_point.load(seq_cst) != 0 ? env.lock_owner(p) : nullptr;
    env.hidden(i) = m;
    if (m == nullptr) continue;  // done, idle, or on its way: O2
    ask(m->hot);
    m->hot.hide();
  }
  env.membarrier();
  for (std::uint32_t i = 0; i < n; ++i) {
    auto* const m = env.hidden(i);
    if (m == nullptr) continue;
    if (m->hot.look()) {
      run(env, env.p_at(i));
      take_back(m->hot);
    }
    m->hot.unhide(&env.p_at(i));
    env.unlock_owner(*m);
  }
}

}  // namespace vole::rt::safe_point

namespace vole::rt {
struct M;
struct P;
}  // namespace vole::rt

namespace vole::rt::safe_point {

using function = void (*)(P& p, void* arg) noexcept;

// Returns when it has been run for every P. False: no runtime runs.
bool on_every_p(function fn, void* arg) noexcept;
// The same from inside. Returns how many Ps there were.
std::uint32_t on_every_p_inside(function fn, void* arg) noexcept;

// ── the owner of a P ──
void run_owner(P& p) noexcept;     // O1, O3
bool attend_owner(M& m) noexcept;  // O1, leaving. False: something else is asked of the M
void taken_owner(M& m) noexcept;   // O2, under the M's retake lock

}  // namespace vole::rt::safe_point
