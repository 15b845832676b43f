// A goroutine's history: what a race detector knows of it. Without one it is empty.
//
// Law    under TSan each goroutine is a fiber of its own, made by who says go(): that is the edge
//        from spawn to start, and the place that a report gives as where it was created. Switching
//        to it orders nothing. A stack that is used again, or memory, is told apart by forget().
// Law    begin, end: not on the goroutine itself. before_wait, after_wait: on it. before_wake: on
//        whoever wakes it, goroutine or plain thread.
// Note   g0 and the runtime's own threads order nothing (base::race::unseen for their whole life).
// Proof  tests/races
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/race.h"

namespace vole::arch {

#if defined(VOLE_RACES)
class history {
 public:
  // `name`: null if it has none. created_at: a return address in the code that said go().
  void begin(std::uint64_t id, const char* name, void* created_at) noexcept;
  void end() noexcept;  // idempotent
  // It is to run for the first time, and takes two mappings from here on. How many do, with it.
  std::size_t starts() noexcept;
  void before_wait() noexcept { base::race::release(&waits_); }
  void after_wait() noexcept { base::race::acquire(&woken_); }
  void before_wake() noexcept { base::race::release(&woken_); }
  // Comes after what it did until it waited.
  void after_its_wait() const noexcept { base::race::acquire(&waits_); }
  const void* waits() const noexcept { return &waits_; }
  void* fiber() const noexcept { return fiber_; }

 private:
  void* fiber_ = nullptr;
  bool started_ = false;
  unsigned char waits_ = 0, woken_ = 0;  // their addresses stand for the two edges
};
// Nobody has used this memory yet, as far as the detector goes.
void forget(const void* at, std::size_t bytes) noexcept;
#else
struct history {
  static void begin(std::uint64_t, const char*, void*) noexcept {}
  static void end() noexcept {}
  static std::size_t starts() noexcept { return 0; }
  static void before_wait() noexcept {}
  static void after_wait() noexcept {}
  static void before_wake() noexcept {}
  static void after_its_wait() noexcept {}
  static void* fiber() noexcept { return nullptr; }
};
inline void forget(const void*, std::size_t) noexcept {}
#endif

}  // namespace vole::arch
