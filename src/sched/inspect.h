// Looking in from outside: counts, ids, dumps.
//
// Who    api, in user context, any thread.
// Note   counts are read without stopping anything: each is true, together they
//        need not be of one instant.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sched/dump.h"

namespace vole::rt {

struct snapshot {
  std::uint32_t procs, idle_procs, threads, idle_threads, zombies;
  int spinning;
  std::uint64_t spawned, finished, switches, steals, stolen, overflows, hand_offs;
  std::uint64_t preemptions, evictions;
  std::size_t global_queue, local_queues;
  std::size_t stacks_held, stacks_hot, stacks_cold;
};

snapshot take_snapshot() noexcept;
std::uint64_t current_id() noexcept;  // 0: not on a goroutine
// Every goroutine, with the world stopped.
void dump_all(dump::sink out, void* arg) noexcept;

}  // namespace vole::rt
