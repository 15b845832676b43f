// The twin of src/sched/wait/deadline.h: a plain thread's half.
#pragma once

#include <cstdint>

#include "sched/park.h"
#include "sched/wait/p_timers.h"

namespace vole::rt {

inline constexpr std::uintptr_t kTimedOut = 2;

struct deadline {
  atomic<std::uint32_t> winner{0};
  waiter* w = nullptr;
  void* object = nullptr;
  std::int64_t when = kNoTimer;
};
inline void arm(deadline& t, M*, waiter* w, std::int64_t when) noexcept {
  t.w = w;
  t.object = w->object;
  t.when = when;
  w->winner = &t.winner;
}
inline void disarm(deadline&, M*) noexcept {}
inline void sleep_until_ns(std::int64_t, wait_reason) noexcept {}

inline bool expire_on_thread(deadline& t) noexcept {
  std::uint32_t none = 0;
  if (!t.winner.compare_exchange_strong(none, 1, seq_cst)) return false;
  t.w->unlink(t.object, t.w);
  return true;
}
inline bool sleeps_until(guest_note& note, std::int64_t when) noexcept {
  return when == kNoTimer || note.woken.sleep_for(when);
}

}  // namespace vole::rt
