// The questions that a trace asks of the scheduler, which lies above this room.
//
// Who    declared here, defined by sched/report/traced.cc.
#pragma once

#include <cstdint>

#include "gmp/m.h"

namespace vole::rt::trace {

struct house {
  // True: a runtime runs, and does not end before end_visit.
  bool (*visit)() noexcept;
  void (*end_visit)() noexcept;
  bool (*is_stopped)() noexcept;   // there is none
  bool (*is_forked)() noexcept;    // this is a forked child
  // Every M, its flag, and that of those to come; under the scheduler's lock.
  void (*flag_all)(bool on) noexcept;
  // During a visit.
  void (*each_m)(void (*fn)(M& m, void* arg) noexcept, void* arg) noexcept;  // alive
  void (*each_g)(void (*fn)(const G& g, void* arg) noexcept, void* arg) noexcept;
  bool (*is_in_call)(const M& m) noexcept;
  std::uint32_t (*procs)() noexcept;
};
extern const house the_house;

// ── the scheduler's calls ──
// A runtime is about to start: events of the last one are closed. Plain threads.
void runtime_begins() noexcept;
// One has ended. A trace of VOLE_TRACE is made complete, and goes on when there is another one.
void runtime_ended() noexcept;
// VOLE_TRACE=FILE: the first runtime of the process starts. 0 or errno.
int start_from_environment(const char* path) noexcept;
void in_forked_child() noexcept;
void ask_for_stacks(std::uint32_t frames) noexcept;  // VOLE_DEBUG=stacks=N
// From find [11]: chunks wait for the writer.
void tell_writer() noexcept;

}  // namespace vole::rt::trace
