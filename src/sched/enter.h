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
void regain() noexcept;      // the P is away: take an idle one, or go on without; user context
void attend() noexcept;      // somebody wants our attention; user context

// On a goroutine only.
inline M* enter() noexcept {
  M* const m = arch::this_m();
  if (m->hot.in_rt.load(relaxed) != 0) [[unlikely]] entered_twice();
  if (m->hot.enter() == nullptr) [[unlikely]] return reenter();
  return m;
}

inline void leave(M* m) noexcept {
  if (m->hot.leave()) [[unlikely]] attend();
}

// False: there is no runtime; the caller is inside all the same, and none will end under it.
bool guest_enter() noexcept;
void guest_leave() noexcept;

}  // namespace vole::rt
