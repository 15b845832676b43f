// The twin of src/sched/park.h: the stair door as plain threads see it.
//
// Who    chan_model.cc and whoever else checks a room upstairs as it is shipped.
// Law    nobody is on a goroutine: what only goroutines do is fatal.
// Note   wake() and guest_sleep_until() (timeout.h) are copies of the shipped ones,
//        without the goroutine's half.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "base/fatal.h"
#include "base/rand.h"
#include "gmp/wait_reason.h"
#include "gmp/waiter.h"

namespace vole::rt {

using commit_fn = bool (*)(G*, void*) noexcept;

struct G {
  waiter wait;
};
struct M {
  G* curg = nullptr;
  base::rand_state random{1};
};

inline bool on_goroutine() noexcept { return false; }
inline void guest_enter() noexcept {}
inline void guest_leave() noexcept {}

inline M* enter() noexcept { base::fatal("model: nobody is on a goroutine"); }
inline void leave(M*) noexcept {}
inline waiter* self(M* m, void*, void (*)(void*, waiter*) noexcept) noexcept {
  return &m->curg->wait;
}
inline std::uintptr_t park(commit_fn, void*, wait_reason) noexcept { return 0; }

inline void wake(M*, waiter* w, std::uintptr_t value = 0) noexcept {
  w->thread->value = value;
  w->thread->woken.wake();
}

}  // namespace vole::rt
