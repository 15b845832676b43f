// A wait that may end by time: the object's waker and the clock compete for the waiter,
// and the first to claim it has it.
//
// Who    upstairs, on a goroutine, between enter and park; and after the park.
// Law    the record lives on the sleeper's stack until the park has returned and, if
//        it did not return kTimedOut, disarm has been called.
// Note   the clock's side takes the object's lock to unlink the waiter; that lock is
//        held until the switch is over, so a timer that fires at once finds a saved context.
#pragma once

#include <cstdint>

#include "gmp/wait_reason.h"
#include "gmp/waiter.h"
#include "sched/wait/timers.h"

namespace vole::rt {

inline constexpr std::uintptr_t kTimedOut = 2;

struct timeout {
  timer clock;
  atomic<std::uint32_t> winner{0};
  waiter* w = nullptr;
  void* object = nullptr;
};

// The waiter is filled in (object, unlink) and about to be queued, or just was, under the object's
// lock.
void arm(timeout& t, waiter* w, std::int64_t when) noexcept;
void disarm(timeout& t) noexcept;

// A plain thread's half: w waits on `object`, w.winner is &winner. Sleeps until woken or until
// `when`. Returns what it was told; kTimedOut if the clock won: then the waiter is off its queue.
std::uintptr_t guest_sleep_until(waiter& w, void* object, atomic<std::uint32_t>& winner,
                                 std::int64_t when) noexcept;

// Sleeps until then, any thread. User context on both sides.
void sleep_until_ns(std::int64_t when, wait_reason why) noexcept;
// Its two halves, for callers that know that they must sleep: a plain thread, and a goroutine.
void sleep_thread(std::int64_t ns) noexcept;
void sleep_goroutine_until(std::int64_t when, wait_reason why) noexcept;

}  // namespace vole::rt
