// The twin of src/sched/wait/p_timers.h: plain threads have no timers, they sleep for a time.
#pragma once

#include <cstdint>

namespace vole::rt {

struct M;

struct timer {
  void (*fire)(timer* t, M* m) noexcept = nullptr;
  void* arg = nullptr;
};
inline constexpr std::int64_t kNoTimer = INT64_MAX;
inline void add_timer(M*, timer*, std::int64_t) noexcept {}
inline void add_timer_again(M*, timer*, std::int64_t) noexcept {}
inline bool stop_timer(timer*) noexcept { return false; }
inline std::uint32_t timer_generation() noexcept { return 1; }

}  // namespace vole::rt
