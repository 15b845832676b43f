// The api door: starting and ending the runtime, and its knobs.
//
// Who    api, in user context; start_implicitly: spawn, too.
// Law    one runtime per process, restartable. The end: the world is stopped; every
//        waiting goroutine is taken off its object under that object's lock; threads
//        end; stacks and records are released without running destructors. An M that
//        is still in user code becomes a zombie: thread, stack and record stay as
//        they are for ever, and its next entry sleeps for ever.
#pragma once

#include <cstdint>

namespace vole::rt::boot {

void refuse_forked_child() noexcept;  // fatal in a child forked while a runtime ran

// run(): starts a runtime, or adopts one that go() started. False: run() is active already.
bool begin_run() noexcept;
void main_runs(bool yes) noexcept;  // between its start and its end a deadlock can be one
void end_run() noexcept;
void start_implicitly() noexcept;   // no effect if one runs
void shutdown() noexcept;           // no effect inside run(), or if none runs

int dump_on_sigquit() noexcept;     // for the life of the process; 0 or errno

inline constexpr std::uint32_t kMostProcs = 1024;
std::uint32_t procs() noexcept;                    // as it is, or as it would be
std::uint32_t set_procs(std::uint32_t n) noexcept;  // returns the previous
std::uint32_t set_max_threads(std::uint32_t n) noexcept;

}  // namespace vole::rt::boot
