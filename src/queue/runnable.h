// The element of a run queue: a link, a kind, and the bits that every switch looks at.
//
// Queues, find_* and steal deal in runnables and do not ask what they are. Where one is run
// (run_g0 in sched/work/loop.cc), its kind is asked, there and nowhere else.
//
// Law    a runnable is in at most one queue; `next` belongs to that queue, and to
//        nobody while it is in a ring or a crate (those hold pointers).
// Law    `kind` is written once, before others can see it. What is no goroutine has `locked` and not
//        `started`: a door that picks it leaves it to g0, by the tests that it makes anyhow.
#pragma once

#include <cstdint>

namespace vole::rt {

enum class runnable_kind : std::uint8_t {
  goroutine,
  stand_in,  // for a captured thread, which waits for a P (sched/hold/strict.h)
};

struct runnable {
  runnable* next = nullptr;
  runnable_kind kind = runnable_kind::goroutine;
  // ── of a goroutine ── one byte, and not bool: gcc 12 then looks at several of them at once
  std::uint8_t started : 1 = 0;     // has a stack and a saved context
  std::uint8_t exiting : 1 = 0;     // exit_goroutine() is unwinding it
  std::uint8_t at_entry : 1 = 0;    // in a checkpoint that the compiler put there
  std::uint8_t locked : 1 = 0;      // not for any M to run as it is: locked_m is not null
  std::uint8_t homed : 1 = 0;       // locked_m is its home for now (sched/work/home.h), not bound to it
  std::uint8_t has_exceptions : 1 = 0;  // departed while it handled one: `exceptions` is not empty
};

}  // namespace vole::rt
