// How many processors this process may use: affinity and cgroup quotas [3].
//
// Who    os::cpu_count(), and its tests, which bring a root directory of their own.
// Where  anywhere but signal context; open and read into fixed buffers only.
// Note   a quota that cannot be read or understood does not count. Above the mount
//        point of its hierarchy a process cannot look.
#pragma once

namespace vole::os::processors {

// Bits in the calling thread's affinity mask; at least 1.
int in_affinity() noexcept;

// The smallest quota / period, rounded up, of the process's cgroup and all its ancestors, for
// version 2 (cpu.max) and version 1 (cpu.cfs_*_us). 0: no limit. `root` stands before every path
// that is opened: "" for the real system.
int in_cgroups(const char* root) noexcept;

// min(affinity, max(2, quota)); quota 0: affinity.
constexpr int allowed(int affinity, int quota) noexcept {
  if (quota <= 0) return affinity;
  const int limit = quota < 2 ? 2 : quota;
  return affinity < limit ? affinity : limit;
}

}  // namespace vole::os::processors
