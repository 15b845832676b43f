// G: a goroutine.
//
// Law    a G that has not run holds no stack. From its first run to its end it has
//        exactly one. The record's memory stays a G until the runtime ends.
// Note   the first cache line is what a switch touches, the second what a wait
//        touches, the rest what birth, death and dumps touch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/exception_globals.h"
#include "arch/history.h"
#include "arch/offsets.h"
#include "base/fatal.h"
#include "queue/runnable.h"
#include "gmp/status.h"
#include "gmp/wait_reason.h"
#include "gmp/waiter.h"
#include "stack/depot.h"

namespace vole::rt {

struct M;

inline constexpr std::size_t kInlineCallable = 64;
inline constexpr std::size_t kNameBytes = 64;

struct g_name {
  g_name* next;
  char text[kNameBytes - sizeof(g_name*)];
};

struct alignas(64) G : runnable {
  // ── switch ── owner: the M that runs it, or will
  status_word status;
  atomic<wait_reason> why{wait_reason::none};
  std::uint32_t trace_seq = 0;    // its last number in generation trace_stamp (trace/emit.h)
  atomic<void*> sp{nullptr};    // the saved context, when not running
  std::uintptr_t wake_value = 0;  // what park() returns; written by the waker
  M* locked_m = nullptr;        // the only M that may run it: lock_os_thread, or `homed`
  atomic<std::int64_t> waiting_since{0};  // coarse clock, ns
  rt::stack stack;              // before the first run: its size only

  // ── wait ──
  waiter wait;                  // under the object's lock

  // ── life ── written at birth, read by dumps
  void* caught = nullptr;         // what arch::exception_globals has, but for its padding
  unsigned int uncaught = 0;
  std::uint32_t trace_stamp = 0;
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  void* created_at = nullptr;   // return address in the code that said go()
  void (*invoke)(void* callable) = nullptr;
  // The runtime ended first; `running`: on a zombie, which still uses the callable. May be null.
  void (*abandon)(void* callable, bool running) noexcept = nullptr;
  g_name* name = nullptr;
  alignas(16) std::byte callable[kInlineCallable];
  [[no_unique_address]] arch::history history;
};

static_assert(sizeof(G) == (base::race::on ? 320 : 256));

inline G* as_g(runnable* r) noexcept {
#ifdef VOLE_CHECKED
  if (r != nullptr && r->kind != runnable_kind::goroutine)
    broken("runnable: something else was taken for a goroutine");
#endif
  return static_cast<G*>(r);
}

inline void keep_exceptions(G& g, const arch::exception_globals& e) noexcept {
  g.caught = e.caught;
  g.uncaught = e.uncaught;
  g.has_exceptions = true;
}
inline arch::exception_globals take_exceptions(G& g) noexcept {
  g.has_exceptions = false;
  return {g.caught, g.uncaught};
}

// G has a base class with members: offsetof is then a compiler's courtesy, which gcc and clang
// both extend.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(G, wake_value) == VOLE_G_WAKE_VALUE);
static_assert(offsetof(G, wait) == kWaiterInG);

inline G* owner_of_callable(void* callable) noexcept {
  return reinterpret_cast<G*>(static_cast<std::byte*>(callable) - offsetof(G, callable));
}
#pragma GCC diagnostic pop

inline void lock_to(G& g, M* m) noexcept {  // null: to none
  g.locked_m = m;
  g.locked = m != nullptr;
}

inline g_status status_of(const G& g) noexcept { return g.status.get(); }

// The only way a G changes status.
inline void set_status(G& g, [[maybe_unused]] g_status from, g_status to) noexcept {
#ifdef VOLE_CHECKED
  check_status(g, from, to);
#endif
  g.status.now_.store(to, std::memory_order_release);
}

}  // namespace vole::rt
