// The events of a trace, where they happen.
//
// Who    sched, on an M inside the runtime or as a guest; api, for regions, tasks and logs. Callers
//        ask `is_traced(m)` or `is_on()` first: while there is no trace that is all they do.
// Where  inside, under any lock up to `retake`. An M without a P has passed its retake lock since it
//        came in: before that the taker of its P may be counting its events.
// Law    an event is written before what it tells of can be seen by others: before the goroutine is
//        queued, the P given up, the lock freed. So a thread that acts on it writes later.
//        An M's events are its own thread's; everybody else writes as thread 0, under a lock.
// Proof  tests/api/trace_test.cc, tests/stress/trace_stress_test.cc
#pragma once

#include <cstdint>
#include <string_view>

#include "arch/caller.h"
#include "gmp/m.h"
#include "gmp/p.h"
#include "trace/advance.h"

namespace vole::rt::trace {

extern atomic<std::uint32_t> now_on;  // 1: a session runs

inline bool is_on() noexcept { return now_on.load(relaxed) != 0; }
inline bool is_traced(const M& m) noexcept {
  return (m.hot.unplain.load(relaxed) & hot_words<P>::kTraced) != 0;
}
// m may be null: a guest.
inline bool is_traced(const M* m) noexcept { return m != nullptr ? is_traced(*m) : is_on(); }
inline void flag(M& m, bool on) noexcept {
  if (on) {
    m.hot.unplain.fetch_or(hot_words<P>::kTraced, relaxed);
  } else {
    m.hot.unplain.fetch_and(~hot_words<P>::kTraced, relaxed);
  }
}

// How many times each P was acquired. Its owner counts, trace or not.
void count_acquisition(const P& p) noexcept;
std::uint64_t acquisitions_of(const P& p) noexcept;

// ── goroutines ── m null: a guest
void created(M* m, G& g) noexcept;
void unblocked(M* m, G& g) noexcept;
void unblocked_by_nobody(G& g) noexcept;  // on an M, but not by its goroutine
enum class leaving : std::uint8_t { block, yield, preempt, end };
// The M's goroutine departs; `next`, if not null, runs in its place. Without a P, whatever it meant
// to do, it queues for one. `why`: of a block; sp: of its saved context.
void departs(M& m, G& g, leaving how, G* next, wait_reason why, const void* sp) noexcept;
void runs(M& m, G& g) noexcept;
void captured(M& m, bool had_p) noexcept;    // strict mode: it sleeps with its thread
void let_go(M& m) noexcept;                  // it runs on; with the P that the M has, if any

// ── Ps ──
void got_p(M& m, const P& p) noexcept;       // it has none yet
void gives_p(M& m) noexcept;                 // it still has it
void p_is_taken(const M& from, const P& p) noexcept;  // under `from`'s retake lock

// ── calls ── `from`: the frame that called blocking()
void call_begins(M& m, arch::frame from) noexcept;
void call_ends(M& m) noexcept;

// ── the world ── one stopper at a time
void stop_begins(std::string_view purpose) noexcept;
void stop_ends() noexcept;

// ── what the program says ── m null: a plain thread
void region(M* m, bool begins, std::string_view name) noexcept;
void task_begins(M* m, std::uint64_t id, std::uint64_t parent, std::string_view name) noexcept;
void task_ends(M* m, std::uint64_t id) noexcept;
void log(M* m, std::uint64_t task, std::string_view category, std::string_view text) noexcept;

// ── threads ──
void thread_ends(M& m) noexcept;  // it writes no more; inside, or a zombie

// A test's: the clocks of Ms are set wrong by so many ticks, those of odd number forwards.
void skew_clocks(std::int64_t ticks) noexcept;

}  // namespace vole::rt::trace
