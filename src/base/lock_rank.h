// Every lock's rank. A thread takes locks in growing rank only; debug builds abort
// on the first inversion. tools/locks.txt says what each one guards, and a test
// keeps the two lists equal.
#pragma once

#include <cstdint>

namespace vole::base {

enum class lock_rank : std::uint8_t {
  signals = 5,        // the registrations for signals
  lifecycle = 10,     // starting and stopping the runtime
  trace = 15,         // beginning and ending a trace
  world = 20,         // one stop-the-world at a time
  object = 30,        // a channel, or another object that goroutines wait for
  bias = 33,          // a mutex is given to a P, or taken back
  timer = 35,         // a P's timers
  sched = 40,         // L of docs/design/0003-wake-ups.md
  records = 45,       // free Gs and names
  retake = 50,        // one M's P is being taken away, given or given up
  home = 55,          // one M's inbox
  thread_maker = 60,  // the list of threads that are to be made
  watch = 62,         // who waits for the file behind one number
  poll = 65,          // the poller's free descriptors
  depot = 70,         // stacks
  events = 73,        // trace events of threads that are no Ms
  chunks = 75,        // where events are written to
  slab = 80,          // records
};

}  // namespace vole::base
