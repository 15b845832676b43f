#include "arch/sanitizer.h"

#if defined(VOLE_SANITIZE_ADDRESS) || defined(VOLE_SANITIZE_THREAD)

#include <cstdint>
#include <new>

#include "base/atomic.h"

#if defined(VOLE_SANITIZE_ADDRESS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(VOLE_SANITIZE_THREAD)
#include <sanitizer/tsan_interface.h>
#endif
#include "arch/history.h"

// The hooks run between two stacks: an instrumented prologue would count on one and its
// epilogue on the other.
#if defined(__clang__)
#define VOLE_BARE __attribute__((noinline, disable_sanitizer_instrumentation))
#else
#define VOLE_BARE __attribute__((noinline, no_sanitize("thread", "address", "undefined")))
#endif

namespace vole::arch {
namespace {

thread_local constinit san_thread* current_thread = nullptr;
[[maybe_unused]] constinit base::atomic<san_stack*> all_stacks{nullptr};  // TSan's fibers

VOLE_BARE san_thread* here() noexcept {
  asm volatile("");
  return current_thread;
}

}  // namespace

void san_thread_begins(san_thread& t) noexcept {
#if defined(VOLE_SANITIZE_THREAD)
  t.g0.fiber = __tsan_get_current_fiber();
#endif
  t.current = &t.g0;
  current_thread = &t;
}

// The record lies in the stack's lowest bytes; fresh memory is zero.
void san_fresh_stack(std::byte* lo, std::size_t bytes) noexcept {
#if defined(VOLE_RACES)
  forget(lo, bytes);
#else
#if defined(VOLE_SANITIZE_ADDRESS)
  __asan_unpoison_memory_region(lo, bytes);
#endif
  auto* const s = reinterpret_cast<san_stack*>(lo);
  if (s->lo == lo) return;
  new (s) san_stack;
  s->lo = lo;
  s->bytes = bytes;
#if defined(VOLE_SANITIZE_THREAD)
  s->fiber = __tsan_create_fiber(0);
  s->next = all_stacks.load(base::relaxed);
  while (!all_stacks.compare_exchange_weak(s->next, s, base::acq_rel, base::relaxed)) {
  }
#endif
#endif
}

void san_aim(san_thread& t, std::byte* lo, [[maybe_unused]] void* fiber) noexcept {
#if defined(VOLE_RACES)
  t.fiber = lo != nullptr ? fiber : t.g0.fiber;
#else
  t.target = lo != nullptr ? reinterpret_cast<san_stack*>(lo) : &t.g0;
#endif
}

void san_succeed([[maybe_unused]] san_thread& t) noexcept {
#if defined(VOLE_RACES)
  __tsan_switch_to_fiber(t.fiber, __tsan_switch_to_fiber_no_sync);
#endif
}

void san_release_all() noexcept {
#if defined(VOLE_SANITIZE_THREAD) && !defined(VOLE_RACES)
  for (san_stack* s = all_stacks.exchange(nullptr, base::acq_rel); s != nullptr;) {
    san_stack* const next = s->next;
    __tsan_destroy_fiber(s->fiber);
    s = next;
  }
#endif
}

void san_unmapping(const void* at, std::size_t bytes) noexcept {
#if defined(VOLE_SANITIZE_ADDRESS)
  __asan_unpoison_memory_region(at, bytes);
#else
  static_cast<void>(at);
  static_cast<void>(bytes);
#endif
}

}  // namespace vole::arch

extern "C" VOLE_BARE void vole_san_depart() noexcept {
  vole::arch::san_thread& t = *vole::arch::here();
#if defined(VOLE_SANITIZE_ADDRESS)
  __sanitizer_start_switch_fiber(&t.current->fake, t.target->lo, t.target->bytes);
#endif
#if defined(VOLE_RACES)
  if (__tsan_get_current_fiber() != t.fiber)
    __tsan_switch_to_fiber(t.fiber, __tsan_switch_to_fiber_no_sync);
#elif defined(VOLE_SANITIZE_THREAD)
  if (t.current != t.target) __tsan_switch_to_fiber(t.target->fiber, 0);
  t.current = t.target;
#endif
  static_cast<void>(t);
}

extern "C" VOLE_BARE void vole_san_arrive() noexcept {
#if defined(VOLE_SANITIZE_ADDRESS)
  vole::arch::san_thread& t = *vole::arch::here();
  const void* from_lo = nullptr;
  std::size_t from_bytes = 0;
  __sanitizer_finish_switch_fiber(t.target->fake, &from_lo, &from_bytes);
  if (t.current == &t.g0 && t.g0.lo == nullptr) {  // the first switch tells where g0 lies
    t.g0.lo = from_lo;
    t.g0.bytes = from_bytes;
  }
  t.current = t.target;
#endif
}

#endif
