// The twin of src/sched/wait/timeout.h: a plain thread's half.
#pragma once

#include <cstdint>

#include "sched/park.h"
#include "sched/wait/timers.h"

namespace vole::rt {

inline constexpr std::uintptr_t kTimedOut = 2;

struct timeout {};
inline void arm(timeout&, waiter*, std::int64_t) noexcept {}
inline void disarm(timeout&) noexcept {}
inline void sleep_until_ns(std::int64_t, wait_reason) noexcept {}

inline std::uintptr_t guest_sleep_until(waiter& w, void* object, atomic<std::uint32_t>& winner,
                                        std::int64_t when) noexcept {
  std::uint32_t none = 0;
  if (!w.thread->woken.sleep_for(when) && winner.compare_exchange_strong(none, 1, seq_cst)) {
    guest_enter();
    w.unlink(object, &w);
    guest_leave();
    return kTimedOut;
  }
  w.thread->woken.sleep();
  return w.thread->value;
}

}  // namespace vole::rt
