// The words of the parking protocol, and all functions that write them (sched/work/parking.h).
//
//     spinning         workers that look for work, and wake-ups in flight; each M's own flag
//     need_spinning    the promise to search: set and tested under L
//     idle Ps, idle Ms the lists, how many Ps, and which: under L
//     stopping         the world is to stop: written under L
//     stop_wait        Ps that are not yet the stopper's: under L
//
// Who    sched/work/parking.h, sched/work/surplus.h and the stopper; _locked: under L.
// Law    no other file writes these words (tools/rules.txt). An M is on the idle list if its `idle`
//        is set and it is not locked to a goroutine. While the world stops, no P becomes idle and
//        none leaves the idle list: a P that nobody holds any more goes to the stopper. The thread
//        that takes stop_wait to zero wakes the stopper, once in a stop.
// Note   written against an Env, so that tests/model runs this very text.
// Proof  tests/model/parking_model.cc, tests/model/stop_model.cc
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/atomic.h"
#include "base/fatal.h"

namespace vole::rt::parking {

using namespace base;

// The counts of the protocol. One per runtime.
struct state {
  alignas(64) atomic<int> spinning{0};
  atomic<int> need_spinning{0};
};

// ── the idle Ps ── under L

// Takes an idle P, `preferred` if it is idle. Null: there is none, or the world is being stopped and
// idle Ps belong to the stopper.
template <class Env, class P>
P* pop_idle_p_locked(Env& env, P* preferred) noexcept {
  if (env.stopping().load(relaxed)) return nullptr;
  auto& idle = env.idle_ps();
  if (preferred != nullptr && env.is_idle_locked(*preferred)) {
    std::remove_reference_t<decltype(idle)> passed;
    while (idle.top() != preferred) passed.push(idle.pop());
    idle.pop();
    while (P* const p = passed.pop()) idle.push(p);
    idle.push(preferred);
  }
  P* const p = idle.pop();
  if (p == nullptr) return nullptr;
  const auto were_idle = env.idle_p_count().fetch_sub(1, seq_cst);
  env.idle_mask().clear(p->id);
  env.leaves_idle_locked(*p, were_idle);
  return p;
}

template <class Env>
auto* pop_idle_p_locked(Env& env) noexcept {
  return pop_idle_p_locked(env, decltype(env.idle_ps().top()){nullptr});
}

template <class Env, class P>
void put_idle_p_locked(Env& env, P* p) noexcept {
#ifdef VOLE_CHECKED
  if (env.stopping().load(relaxed)) broken("parking: a P becomes idle while the world stops");
#endif
  env.becomes_idle_locked(*p);
  env.idle_ps().push(p);
  env.idle_mask().set(p->id);
  env.idle_p_count().fetch_add(1, seq_cst);
}

// ── the idle Ms ── under L

template <class Env, class M>
void push_idle_m_locked(Env& env, M& m) noexcept {
  env.becomes_idle(m);
  env.idle_ms().push(&m);
}

// It has slept for long enough, and ends (sched/work/surplus.h).
template <class Env, class M>
void remove_idle_m_locked(Env& env, M& m) noexcept {
  env.leaves_idle(m);
  env.idle_ms().remove(&m);
}

template <class Env>
auto* pop_idle_m_locked(Env& env) noexcept {
  auto* const m = env.idle_ms().pop();
  if (m != nullptr) env.leaves_idle(*m);
  return m;
}

// ── spinning Ms ──

// An M that was counted no longer searches.
inline void stop_spinning(state& s) noexcept {
  [[maybe_unused]] const int were = s.spinning.fetch_sub(1, seq_cst);
#ifdef VOLE_CHECKED
  if (were <= 0) broken("parking: fewer than no threads spin");
#endif
}

template <class Env, class M>
void stop_spinning(Env& env, M& m) noexcept {
  m.spinning = false;
  stop_spinning(env.parking_state());
}

template <class Env, class M>
void become_spinning(Env& env, M& m) noexcept {
  m.spinning = true;
  env.parking_state().spinning.fetch_add(1, seq_cst);
}

// The promise: no P is idle, and the next worker that would drop its own searches first.
inline void promise_locked(state& s) noexcept { s.need_spinning.store(1, seq_cst); }

// Somebody searches. Or a P becomes idle although the promise was not kept: then sysmon wakes a thread
// for the submitters that relied on it.
inline void end_promise_locked(state& s) noexcept { s.need_spinning.store(0, seq_cst); }

// ── a stop of the world ──

// n more Ps are the stopper's.
template <class Env>
void count_stopped_locked(Env& env, std::uint32_t n) noexcept {
  if (n == 0) return;
  const std::uint32_t left = env.stop_wait_locked() - n;
  env.set_stop_wait_locked(left);
  if (left == 0) env.wake_stopper_locked();
}

// Nobody holds p any more. True: it is the stopper's.
template <class Env, class P>
bool stop_p_locked(Env& env, P* p) noexcept {
  if (!env.stopping().load(relaxed)) return false;
  env.becomes_stopped(*p);
  count_stopped_locked(env, 1);
  return true;
}

template <class Env, class P>
bool stop_p(Env& env, P* p) noexcept {
  env.lock();
  const bool stopped = stop_p_locked(env, p);
  env.unlock();
  return stopped;
}

// The stopper: from here on n Ps are to be its own. Those that are idle are so at once; it is told
// of each. False: the others are still to come; the last of them wakes it.
template <class Env, class Fn>
bool begin_stop(Env& env, std::uint32_t n, Fn&& tell_idle) noexcept {
  env.lock();
  env.set_stop_wait_locked(n);
  env.stopping().store(true, seq_cst);
  while (auto* const p = env.idle_ps().pop()) {
    tell_idle(*p);
    env.idle_p_count().fetch_sub(1, seq_cst);
    env.idle_mask().clear(p->id);
    stop_p_locked(env, p);
  }
  const bool all = env.stop_wait_locked() == 0;
  env.unlock();
  return all;
}

template <class Env>
void end_stop_locked(Env& env) noexcept {
  env.stopping().store(false, seq_cst);
}

// The runtime has ended, the world is stopped: as new.
template <class Env>
void reset(Env& env, std::uint32_t procs) noexcept {
  env.idle_ps() = {};
  env.idle_ms() = {};
  env.idle_p_count().store(0, relaxed);
  for (std::uint32_t i = 0; i < procs; ++i) env.idle_mask().clear(i);
  env.parking_state().spinning.store(0, relaxed);
  env.parking_state().need_spinning.store(0, relaxed);
  env.stopping().store(false, relaxed);
}

}  // namespace vole::rt::parking
