// The runtime's knobs and gauges.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// How many goroutines may run at once. set_ stops the world and returns the previous value;
// n < 1 or n > 1024: std::invalid_argument.
int max_procs() noexcept;
int set_max_procs(int n);

// How many threads the runtime may have (10000). One more is fatal: "thread exhaustion".
// Returns the previous value; n < 1: std::invalid_argument.
int set_max_threads(int n);

// How many goroutines there are; the one that asks.
std::size_t num_goroutines() noexcept;
std::uint64_t goroutine_id() noexcept;  // 0 when not on a goroutine

// Ties this goroutine to its thread until as many unlocks have followed. A goroutine that ends
// while locked ends its thread. No effect on a plain thread.
void lock_os_thread() noexcept;
void unlock_os_thread() noexcept;

// A cooperative preemption point: yields if this goroutine's time slice is over. Once run() has
// returned, a goroutine that calls this, or anything else of vole's, sleeps there for ever.
void checkpoint() noexcept;

// Counts of what the scheduler has and has done. docs/performance.md says how to read them.
struct runtime_stats {
  // Ps, and those of them that have nothing to do.
  int procs = 0, idle_procs = 0;
  // Those that run goroutines. The kernel shows more: vole-sysmon, vole-maker, vole-signals while
  // signals are registered, vole-reports if reports were asked for (stall=, sigquit=1,
  // dump_on_sigquit()), up to 64 that look up host names, and the zombies.
  int threads = 0, idle_threads = 0, spinning_threads = 0;
  int zombie_threads = 0;              // left in user code by runtimes that ended, in all; asleep
                                       // since their next call of vole
  int blocking_threads = 0;            // in blocking(), as far as is known
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
  // Calls of libraries that parked a goroutine (vole-hooks), and how many of those waits came back on
  // another thread than their own, since that was blocked.
  std::uint64_t hooked_waits = 0, hooked_migrations = 0;
  std::size_t stacks_in_use = 0;       // held by goroutines, or kept at hand by a proc
  std::size_t stacks_free = 0, stacks_returned = 0;
};
// The counts now. They are read one after the other, while the runtime goes on.
runtime_stats stats() noexcept;

// Every goroutine: its status, what it waits for and how long, the calls it is in, who made it and
// where. Those that do the same are one block with a count. The world is stopped only while the
// stacks are read; names are looked up after that. A goroutine that runs is asked by a signal (SIGURG,
// or VOLE_DEBUG=preemptsignal=N) where it is, unless its thread sleeps in the kernel; if it has not
// answered within half a second, it is shown without a stack. docs/debugging.md explains the words.
enum class dump_format { text, json };
void dump_goroutines(std::FILE* out, dump_format format = dump_format::text);

// From now on SIGQUIT (Ctrl-\) prints the dump of all goroutines to stderr, and the program goes on.
// A handler that the program had for it is called afterwards; one that is installed later, by
// signal_notify for one, has the signal alone. VOLE_DEBUG=sigquit=1 does the same for a program that
// does not call this. Any thread, at any time; for the life of the process. Throws
// std::system_error if the system refuses a thread.
void dump_on_sigquit();

// One function on a stack; inlined ones have a frame of their own, with the same pc.
struct frame {
  std::string function;        // as a person would write it; empty: unknown
  std::string file;            // empty: unknown
  int line = 0;
  const void* pc = nullptr;    // where the call returns to
};

// A goroutine, as a dump shows it.
struct goroutine_info {
  std::uint64_t id = 0;  // from 1 on; never used again
  std::uint64_t parent = 0;    // 0: it was made by a plain thread
  std::string name;            // of go_options
  std::string status;          // "running", "runnable", "waiting", "syscall", "evicted", "preempted"
  std::string wait_reason;     // "chan receive"; empty unless it waits
  std::chrono::nanoseconds waiting{};  // how long
  const void* object = nullptr;        // what it waits on, if that has an address
  std::string function;        // what it was started with
  frame created_at;            // where
  // Innermost first, vole's own frames left out. Empty: it runs (nobody is asked here), or has not
  // begun.
  std::vector<frame> stack;
};
// All of them, with their stacks: what dump_goroutines prints.
std::vector<goroutine_info> goroutines();

// The counts of stats() in the text format of Prometheus, for your own endpoint.
std::string metrics();

// Stops a runtime that go() started implicitly. No effect inside run(). On a goroutine:
// std::logic_error.
void shutdown();

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
