// From one generation to the next, while everybody writes on.
//
// A generation may be closed when nobody can write into it any more. Its number is one word that
// every event reads, after what it tells of has happened; events are written inside the runtime only:
//
//     an M                                   the writer
//     in_rt = 1                              A1 stamp = next
//     reads stamp, writes the event          A2 membarrier on every core
//     ...                                    A3 for each M: waits until it was seen outside, or
//     in_rt = 0                                 asleep, or in the next generation
//                                            A4 takes the chunk that the M left behind
//
// Once the barrier has returned, one of two things holds for each M: we see it inside, and wait; or
// its next event reads the next number. An M that sleeps inside (no work, strict mode) is marked
// `quiet` meanwhile and writes nothing: quiet = 1 after its last event, quiet = 0 before the next.
// An M that is busy inside need not be caught outside: its own stamp says that it has moved on.
//
// Law    an event is never in an earlier generation than one that it follows: there is one word for
//        all, and the M that acts on an event reads it later than the M that wrote the event. A word
//        in each M would break that.
//        A4: the M, when it moves on, and the writer compete for the chunk: it goes to the one that
//        makes `buffer` null.
// Note   written against an Env, so that tests/model runs this very text.
// Rejected: stopping the world; a lock or an atomic read-modify-write for each event.
// Proof  tests/model/advance_model.cc, tests/stress/trace_stress_test.cc
#pragma once

#include <cstdint>

#include "base/atomic.h"

namespace vole::rt::trace {

using namespace base;

// A3. T: what the M writes with (gmp/traced.h).
template <class Hot, class T>
bool has_passed(const Hot& hot, const T& t, std::uint32_t stamp) noexcept {
  return hot.in_rt.load(acquire) == 0 ||          // pairs: leave
         hot.quiet.load(acquire) != 0 ||          // pairs: become_quiet
         t.stamp.load(acquire) == stamp;          // pairs: move_on
}

// A4. An M that was seen outside may have come in since and be moving on: it has made `buffer` null and
// has not submitted yet. Then it is inside, and we look until it is done. Nobody but the caller
// recycles chunks, so one that was seen there is that one still.
template <class Env, class M>
void take_left_behind(Env& env, M& m, std::uint32_t stamp) noexcept {
  for (;;) {
    auto* left = m.trace.buffer.load(acquire);  // before the look: a null seen here is of this visit
    if (left == nullptr) {
      if (has_passed(m.hot, m.trace, stamp)) return;
      env.pause();
      continue;
    }
    if (!env.is_old(*left)) return;
    auto* const mine = left;
    if (m.trace.buffer.compare_exchange_strong(left, nullptr, seq_cst)) return env.submit(mine);
  }
}

template <class Env>
void advance(Env& env, std::uint32_t stamp) noexcept {
  env.stamp().store(stamp, seq_cst);  // A1
  env.membarrier();                   // A2
  env.each_m([&](auto& m) {
    while (!has_passed(m.hot, m.trace, stamp)) env.pause();  // A3
    take_left_behind(env, m, stamp);                         // A4
  });
}

// ── the M ──
// Called at the M's first event in a generation: submits its chunk of the one before, and only then
// says that it has moved on.
template <class Env, class T>
void move_on(Env& env, T& t, std::uint32_t stamp) noexcept {
  if (auto* const left = t.buffer.exchange(nullptr, seq_cst)) env.submit(left);
  t.stamp.store(stamp, release);  // pairs: has_passed
}

// It sleeps inside the runtime; between the two it writes nothing.
template <class Hot>
void become_quiet(Hot& hot) noexcept {
  hot.quiet.store(1, release);  // pairs: has_passed
}
template <class Hot>
void end_quiet(Hot& hot) noexcept {
  hot.quiet.store(0, relaxed);
  compiler_barrier();  // pairs: A2
}

}  // namespace vole::rt::trace
