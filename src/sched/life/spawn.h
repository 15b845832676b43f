// Birth of a goroutine.
//
// It takes two steps, because moving the callable is user code: new_g inside the
// runtime; then the caller, outside, moves its callable into the record (if that throws:
// discard_g); then publish_g. A callable whose move copies bytes takes one step,
// spawn_trivial.
//
// Law    from publish_g on, somebody else may run the goroutine, and it may be over.
// Note   no stack yet: a goroutine that waits in a queue costs its record only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gmp/g.h"
#include "sched/life/enter.h"

namespace vole::rt {

// The properties that every goroutine has. By value, so that a spawn passes them in registers.
struct birth {
  void (*invoke)(void* callable);
  void (*abandon)(void* callable, bool running) noexcept;
};

// The options that few goroutines have.
struct spawn_options {
  const char* name = nullptr;     // copied, cut to 55 characters
  std::uint32_t stack_bytes = 0;  // 0: the default
};

// Any thread; starts the runtime if none runs. User context on both sides.
G* new_g(birth b, void* created_at, const spawn_options& w) noexcept;
void publish_g(G* g) noexcept;
void discard_g(G* g) noexcept;
void spawn_trivial(birth b, void* created_at, const void* callable, std::size_t bytes) noexcept;
void spawn_with_options(birth b, void* created_at, const spawn_options& w, const void* callable,
                       std::size_t bytes) noexcept;

// m: a timer's, on g0; null: between guest_enter and guest_leave while a runtime runs.
void spawn_from_timer(M* m, birth b, void* created_at, const void* callable,
                      std::size_t bytes) noexcept;

// guest_enter for callers that need a running runtime: starts one if none runs.
void guest_enter_started() noexcept;
// As enter_either (sched/wait/place.h), for the same callers.
inline M* enter_either_started() noexcept {
  if (arch::this_m() != nullptr) return enter();
  guest_enter_started();
  return nullptr;
}

}  // namespace vole::rt
