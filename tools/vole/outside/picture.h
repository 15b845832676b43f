// A picture of all goroutines of a target, with copies of their stacks, of one instant.
//
// A live process is read twice. First unpaused: everything. Then its Ms stand still, the records
// are read again, and the stacks of those goroutines only that may have moved:
//
//     has not moved: waiting in both, with the same id, sp and waiting_since, and
//                    waiting_since < coarse_now as it was before the first reading
//
// A goroutine that parks stores the coarse clock. If it has parked anew since the first reading, it
// stored at least what the clock was then. So the last condition leaves out those for whom the same
// numbers could mean two waits.
//
// Who    dump, core; records alone (`take_records`): top.
// Law    who runs is known by the stack pointers of threads, not by status: both change, but not at
//        once. A thread whose stack pointer is on no goroutine's stack may run one all the same: in
//        a signal handler, on an alternate stack; then M::curg says which.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "records.h"
#include "registers.h"
#include "root_reader.h"
#include "target.h"

namespace vole_command::outside {

enum : std::uint8_t { kIdle, kRunnable, kRunning, kSyscall, kWaiting, kDead, kPreempted, kEvicted };

struct goroutine {
  std::uint64_t record = 0;  // where its G is
  std::uint64_t id = 0, parent = 0, created_at = 0, invoke = 0, object = 0, callable = 0;
  std::uint64_t sp = 0, stack_lo = 0, stack_bytes = 0;
  std::int64_t waiting_since = 0;
  std::uint8_t status = 0, why = 0;
  bool started = false, locked = false;
  std::string name;

  // Its thread's registers, if it runs: an index into picture::threads. -1: at `sp` and table.land.
  int thread = -1;
  // A copy of [copy_from, copy_from + copy_bytes) of its stack. Null: not read.
  const char* copy = nullptr;
  std::uint64_t copy_from = 0, copy_bytes = 0;
};

struct machine {
  std::uint64_t record = 0, id = 0, tid = 0, p = 0, curg = 0, locked_g = 0, call = 0;
  bool idle = false, polling = false, spinning = false, captured = false, zombie = false;
};

struct processor {
  std::uint64_t record = 0, m = 0;
  std::uint32_t id = 0, queued = 0, ready_next = 0, schedtick = 0;  // queued: ring and runnext
  std::uint8_t status = 0;                                    // 0 is idle, 1 running
  std::uint64_t switches = 0, spawned = 0, finished = 0, steals = 0, stolen = 0, overflows = 0,
                hand_offs = 0, preemptions = 0, evictions = 0;
};

// A mutex that somebody waits for.
struct lock_copy {
  std::uint64_t word = 0, locker = 0;  // waited_places
};

struct totals {
  std::uint32_t procs = 0, idle_procs = 0, threads = 0, zombies = 0, evicted = 0, captured_ms = 0;
  std::int32_t spinning = 0;
  std::uint64_t global_queue = 0, guest_spawned = 0;
  std::int64_t coarse_now = 0;
};

struct picture {
  std::vector<goroutine> goroutines;  // alive ones
  std::vector<machine> machines;      // alive ones
  std::vector<processor> processors;  // those that are gone, too: totals.procs are in use
  totals sum;
  std::int64_t taken_at = 0;  // ns of the target's monotonic clock; a core: about
  std::vector<thread_registers> threads;
  double paused_ms = 0;
  std::map<std::uint64_t, lock_copy> locks;  // by address
  std::size_t read_again = 0;  // stacks, during the pause

  // 8 bytes of a goroutine's stack, or of the alternate stack that its thread is on.
  bool read_word(const goroutine& g, std::uint64_t at, std::uint64_t* word) const;

  struct page {
    std::uint64_t from;
    const char* copy;
  };
  std::vector<page> pages;  // of alternate stacks
  std::vector<arena> copies;
};

// With stacks; a live process is stopped for a moment.
picture take_picture(const target& t, const found_root& root);
// Without stacks and without stopping anybody.
picture take_records(const target& t, const found_root& root);

}  // namespace vole_command::outside
