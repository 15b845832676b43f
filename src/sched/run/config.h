// The settings, from the environment and from the program.
//
// Law    a value that cannot be understood is an error with a sentence, never a
//        silent default: read_environment prints it and ends the program with
//        status 2.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/atomic.h"

namespace vole::rt {

struct config {
  base::atomic<std::uint32_t> procs{0};  // 0: as many as the machine and the cgroup allow
  std::uint32_t max_threads = 10000;     // [2]
  std::uint32_t stack_bytes = 256 * 1024;
  bool evict = true;             // VOLE_DEBUG=evict=0: no P is taken from user code
  std::uint32_t storm_us = 0;    // VOLE_DEBUG=storm=US: every P is taken that often; 0: never.
                                 // In strict mode: the slice, on the wall's clock
  bool strict = false;           // VOLE_DEBUG=strictprocs=1: hogs are captured, not evicted
  std::uint32_t schedtrace_ms = 0;  // VOLE_DEBUG=schedtrace=MS, else GODEBUG's; 0: never
  bool scheddetail = false;         // VOLE_DEBUG=scheddetail=1, else GODEBUG's: a page, not a line
  std::uint32_t stall_ms = 0;  // VOLE_DEBUG=stall=MS: goroutines that do not yield for so long are
                               // reported; 0: none
  bool leaks = false;  // VOLE_DEBUG=leaks=1: goroutines that are left at the end are reported
  bool sigquit = false;        // VOLE_DEBUG=sigquit=1: SIGQUIT prints a dump
  bool control = false;        // VOLE_DEBUG=control=1: a socket at which it may be asked things
  bool all_frames = false;     // VOLE_DEBUG=frames=all: dumps show vole's own, too
  bool mprotect_guards = false;  // VOLE_DEBUG=guards=mprotect: as on a kernel without MADV_GUARD_INSTALL
  std::uint32_t stacks = 1;    // VOLE_DEBUG=stacks=N: so many frames for each place of a trace
  const char* trace = nullptr;  // VOLE_TRACE=FILE; null: none
  std::uint32_t thread_idle_ms = 5000;  // VOLE_DEBUG=threadidle=MS: so long a thread too many
                                        // sleeps before it ends; 0: for ever
  std::uint32_t preempt_signal = 23;  // VOLE_DEBUG=preemptsignal=N; 23: SIGURG
};

inline constexpr std::uint32_t kMostThreads = 1u << 20;

// VOLE_MAXPROCS, else GOMAXPROCS; VOLE_STACK_SIZE; GODEBUG, then VOLE_DEBUG; VOLE_TRACE. Settings that
// the program itself has made stay.
void read_environment(config& c) noexcept;

// The file of VOLE_TRACE cannot be written: says so and ends the program, as for every other setting.
[[noreturn]] void refuse_trace(const char* path, int error) noexcept;

// For tests: what is wrong with a value, or nullptr; on success *out is set.
const char* parse_procs(const char* text, std::uint32_t* out) noexcept;
const char* parse_stack_size(const char* text, std::uint32_t* out) noexcept;

// VOLE_DEBUG: key=value, separated by commas. `why` null: understood. Otherwise the first key that
// is not, and what would be; `out` may then be half changed.
struct complaint {
  std::string_view key;
  const char* why = nullptr;
};
complaint parse_debug(std::string_view text, config& out) noexcept;

// GODEBUG belongs to Go programs: of its keys schedtrace and scheddetail are ours too, all others,
// and what cannot be understood, are passed over.
void parse_go_debug(std::string_view text, config& out) noexcept;

}  // namespace vole::rt
