// Into the runtime and out again: the frame of every entry point.
//
// On an M: enter() ... leave(m). Between the two the M has a P that nobody can take.
// On a plain thread: guest_enter() ... guest_leave(). A guest has no P; it works
// with locks and the global queue only, and the runtime does not end under it.
//
// Law    no P pointer survives leave, a switch or a user callback.
// Note   enter may come back on another thread: use the M it returns.
#pragma once

#include "arch/thread_word.h"
#include "base/fatal.h"
#include "gmp/m.h"

namespace vole::rt {

[[noreturn]] void entered_twice() noexcept;
M* reenter() noexcept;       // the P is away: get one, or queue until one is there [24]
bool enter_or_look(M& m) noexcept;  // in, past the retake lock. False: without a P
// After a call: if the P is away, take an idle one, or go on without; user context.
void regain() noexcept;
void attend() noexcept;      // somebody wants our attention; user context

// For goroutines that were left in user code when the runtime ended: include/vole/detail/left_behind.h.
[[gnu::visibility("default")]] extern atomic<std::uint32_t> left_behind;
[[gnu::visibility("default")]] void sleep_if_left_behind() noexcept;          // user context
[[noreturn]] void sleep_as_zombie() noexcept;  // the runtime has ended without this M

// m: this thread's, on a goroutine. False: the P is away; reenter() gets one.
inline bool try_enter(M* m) noexcept {
  if (m->hot.in_rt.load(relaxed) != 0) [[unlikely]] entered_twice();
  return m->hot.enter() != nullptr;
}

// On a goroutine only.
inline M* enter() noexcept {
  M* const m = arch::this_m();
  if (!try_enter(m)) [[unlikely]] return reenter();
  return m;
}

// False: we are out, and attend() is still to be called.
inline bool try_leave(M* m) noexcept { return !m->hot.leave(); }

inline void leave(M* m) noexcept {
  if (!try_leave(m)) [[unlikely]] attend();
}

// The same, for callers that must stay on their thread: gives the P to a world-stopper, but does not
// yield.
void attend_in_place() noexcept;
inline void leave_in_place(M* m) noexcept {
  if (!try_leave(m)) [[unlikely]] attend_in_place();
}

// On a goroutine, in its user code, on its own stack, and nothing keeps it from parking there.
bool may_park_here() noexcept;
// Any thread that may enter and wake others: a runtime runs, and nothing of it was interrupted here.
bool may_wake_here() noexcept;

// False: there is no runtime; the caller is inside all the same, and none will end under it.
bool guest_enter() noexcept;
void guest_leave() noexcept;

}  // namespace vole::rt
