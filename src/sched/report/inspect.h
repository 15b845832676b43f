// Looking into the scheduler from the api: counts, ids, dumps.
//
// Who    api, in user context, any thread.
// Note   counts are read without stopping anything: each is true, together they
//        need not be of one instant. Safe points (sched/hold/safe_point.h) would not make them so,
//        since each P has its own, and a goroutine could end on one before its birth was counted on
//        another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sched/report/capture.h"
#include "sched/report/dump.h"

namespace vole::rt {

struct snapshot {
  std::uint32_t procs, idle_procs, threads, idle_threads, zombies, in_calls;
  int spinning;
  std::uint64_t spawned, finished, switches, steals, stolen, overflows, hand_offs;
  std::uint64_t preemptions, evictions, hooked_waits, hooked_migrations;
  std::size_t global_queue, local_queues;
  std::size_t stacks_held, stacks_hot, stacks_cold;
};

snapshot take_snapshot() noexcept;
std::uint64_t current_id() noexcept;  // 0: not on a goroutine
// Every goroutine, with the world stopped meanwhile. Nothing, if no runtime runs. False: no memory.
// `ask_running`: those that run are asked for their stacks, by a signal (question.h).
bool take_picture(capture& c, bool ask_running) noexcept;

}  // namespace vole::rt
