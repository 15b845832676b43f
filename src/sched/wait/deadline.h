// A wait that may end by time: the object's waker and the clock compete for the waiter,
// and the first to claim it has it.
//
// Who    upstairs, between enter and the wait; and after it. A goroutine's clock is a timer; a plain
//        thread looks at the clock by itself (sched/wait/place.h).
// Law    the record lives on the sleeper's stack until the park has returned and, if
//        it did not return kTimedOut, disarm has been called.
// Note   the clock's side takes the object's lock to unlink the waiter; that lock is
//        held until the switch is over, so a timer that fires at once finds a saved context.
#pragma once

#include <cstdint>

#include "gmp/wait_reason.h"
#include "gmp/waiter.h"
#include "sched/wait/p_timers.h"

namespace vole::rt {

inline constexpr std::uintptr_t kTimedOut = 2;

struct deadline {
  timer clock;
  atomic<std::uint32_t> winner{0};
  waiter* w = nullptr;
  void* object = nullptr;
  std::int64_t when = kNoTimer;
};

// The waiter is filled in (object, unlink) and about to be queued, or just was, under the object's
// lock. m: null on a plain thread.
void arm(deadline& t, M* m, waiter* w, std::int64_t when) noexcept;
// Inside, after the wait, unless the clock ended it.
void disarm(deadline& t, M* m) noexcept;

// A plain thread's clock. True: the time came before anybody woke it, and its waiter is off its queue.
bool expire_on_thread(deadline& t) noexcept;
// False: it is `when`, and nobody has woken this plain thread. kNoTimer: says true at once.
bool sleeps_until(guest_note& note, std::int64_t when) noexcept;

// Sleeps until then, any thread. User context on both sides.
void sleep_until_ns(std::int64_t when, wait_reason why) noexcept;
// Its two halves, for callers that know that they must sleep: a plain thread, and a goroutine.
void sleep_thread(std::int64_t ns) noexcept;
void sleep_goroutine_until(std::int64_t when, wait_reason why) noexcept;

}  // namespace vole::rt
