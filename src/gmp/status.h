// A G's status, and the only way to change it.
//
// Who    the M that runs or readies the G; for `evicted` the taker of its P, under
//        the M's retake lock.
// Law    only the transitions of the table in status.cc happen; debug builds check
//        each one and abort with both names.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/atomic.h"

namespace vole::rt {

using namespace base;

enum class g_status : std::uint8_t {
  idle,       // a record without a goroutine: fresh memory, or being filled in
  runnable,   // in exactly one queue, or in the hands of whoever queues it
  running,    // on an M that has a P
  syscall,    // in blocking(); never set: shown for a goroutine whose M has the mark (sched/life/call.h)
  waiting,    // parked; its waiter record says where
  dead,       // in a free list
  preempted,  // stopped by a signal, asleep on its M
  evicted,    // runs on, on an M whose P was taken
};

std::string_view name_of(g_status s) noexcept;

// The word itself. A class of its own, so that nothing else can write it.
class status_word {
 public:
  g_status get() const noexcept { return now_.load(std::memory_order_acquire); }

 private:
  friend void set_status(struct G& g, g_status from, g_status to) noexcept;
  friend void set_dead(struct G& g) noexcept;
  atomic<g_status> now_{g_status::idle};
};

// Aborts unless g is `from` and may become `to`. Checked builds only.
void check_status(const struct G& g, g_status from, g_status to) noexcept;

}  // namespace vole::rt
