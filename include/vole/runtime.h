// The runtime's knobs and gauges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace vole {
inline namespace v0 {

// How many goroutines may run at once. set_ stops the world and returns the previous value;
// n < 1 or n > 1024: std::invalid_argument.
int max_procs() noexcept;
int set_max_procs(int n);

// How many threads the runtime may have (10000). One more is fatal: "thread exhaustion".
// Returns the previous value; n < 1: std::invalid_argument.
int set_max_threads(int n);

std::size_t num_goroutines() noexcept;
std::uint64_t goroutine_id() noexcept;  // 0 when not on a goroutine

// Ties this goroutine to its thread until as many unlocks have followed. A goroutine that ends
// while locked ends its thread. No effect on a plain thread.
void lock_os_thread() noexcept;
void unlock_os_thread() noexcept;

// A cooperative preemption point: yields if this goroutine's time slice is over.
void checkpoint() noexcept;

struct runtime_stats {
  int procs = 0, idle_procs = 0;
  int threads = 0, idle_threads = 0, spinning_threads = 0;
  int zombie_threads = 0;              // left in user code by runtimes that ended, in all
  std::size_t goroutines = 0;
  std::size_t global_queue = 0;        // goroutines in the global queue
  std::size_t local_queues = 0;        // in all local queues together
  std::uint64_t spawned = 0, finished = 0;
  std::uint64_t switches = 0;          // goroutines put on a thread
  std::uint64_t steals = 0, stolen = 0;  // successful steals, goroutines they moved
  std::uint64_t overflows = 0;         // local queues that spilled into the global one
  std::uint64_t hand_offs = 0;         // Ps passed on by threads that could not use them
  std::uint64_t preemptions = 0;       // goroutines that yielded because their slice was over
  std::uint64_t evictions = 0;         // Ps taken from goroutines that blocked, or did not yield
  std::size_t stacks_in_use = 0;       // held by goroutines, or kept at hand by a proc
  std::size_t stacks_free = 0, stacks_returned = 0;
};
runtime_stats stats() noexcept;

// Every goroutine: id, name, status, why and how long it waits, where it was created.
void dump_goroutines(std::FILE* out);

// Stops a runtime that go() started implicitly. No effect inside run(). On a goroutine:
// std::logic_error.
void shutdown();

}  // namespace v0
}  // namespace vole
