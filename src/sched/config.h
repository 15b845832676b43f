// What the environment and the program have set.
//
// Law    a value that cannot be understood is an error with a sentence, never a
//        silent default: read_environment prints it and ends the program with
//        status 2.
#pragma once

#include <cstdint>

#include "base/atomic.h"

namespace vole::rt {

struct config {
  bool evict = true;                             // VOLE_DEBUG=evict=0: no P is taken from user code
  base::atomic<std::uint32_t> procs{0};  // 0: as many as the machine and the cgroup allow
  std::uint32_t max_threads = 10000;   // [2]
  std::uint32_t stack_bytes = 256 * 1024;
};

inline constexpr std::uint32_t kMostThreads = 1u << 20;

// VOLE_MAXPROCS, else GOMAXPROCS; VOLE_STACK_SIZE; VOLE_DEBUG. Keeps what the program itself set.
void read_environment(config& c) noexcept;

// For tests: what is wrong with a value, or nullptr; on success *out is set.
const char* parse_procs(const char* text, std::uint32_t* out) noexcept;
const char* parse_stack_size(const char* text, std::uint32_t* out) noexcept;

}  // namespace vole::rt
