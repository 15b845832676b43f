// The contract with the operating system for child processes: each call returns what the kernel said,
// as a value.
//
// Who    process.
// Law    EINTR is tried again here and never seen. Every descriptor is closed on exec.
#pragma once

#include <sys/types.h>

#include "os/result.h"

namespace vole::os::process {

// A pipe whose ends are none of 0, 1 and 2, so that the child's streams can be put there in any
// order. Both ends block.
result pipe(int (&ends)[2]) noexcept;
result open_null() noexcept;  // to read and write

// How to start a program. Streams: the descriptor that becomes 0, 1 or 2; -1: as it is.
struct plan {
  const char* const* arguments;
  const char* const* environment;
  const char* directory;  // null: here
  int streams[3];
  bool own_group;
};
// value: its process id. The thread waits until the program has been loaded.
result spawn(const plan& p) noexcept;
const char* const* own_environment() noexcept;

result open_pidfd(pid_t pid) noexcept;  // ENOSYS: this kernel has none
// value: 1, it has ended; 0: not yet. Then `code` is its exit status, or -1 and `signal` what ended it.
struct ending {
  bool wait;  // for its end, however long
  bool reap;  // else it stays a zombie, and can be asked again
};
result look(pid_t pid, ending how, int& code, int& signal) noexcept;
result kill(pid_t pid, bool group, int signal) noexcept;
bool is_folder(const char* path) noexcept;

// ── several descriptors at once ──
result open_watch() noexcept;
result watch(int set, int fd, bool for_writing) noexcept;
result unwatch(int set, int fd) noexcept;
result watched_ready(int set, int (&fds)[4]) noexcept;  // value: how many of them are

}  // namespace vole::os::process
