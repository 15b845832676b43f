// Who holds a mutex that somebody waits for?
//
// A mutex does not know: its fast path is one compare-exchange, and a word more in it would make
// every lock() slower. But who holds one will unlock it, so its address, or a std::lock_guard's
// reference to it, mostly lies on that goroutine's stack. If exactly one goroutine that does not wait
// for the mutex has its address there, that is probably the holder, and dumps say so with that word.
// If there are several, or none, they say nothing.
//
// Who    capture, while the stacks stand still; of one that runs, from its answer (question.h).
// Where  signal-safe. Reads of stacks are bounded (walk/memory.h).
// Law    at most kMostObjects mutexes, and kMostBytes of stacks, are looked at.
// Note   what may mislead it: a stack keeps addresses in places that are not used any more, and a
//        plain thread that holds a mutex has no stack here.
// Proof  tests/crash/report_test.cc
#pragma once

#include <cstddef>
#include <cstdint>

#include "walk/memory.h"

namespace vole::rt {

class holders {  // zeroed memory is an empty one
 public:
  void wanted(const void* object) noexcept;  // somebody waits for it
  bool any() const noexcept { return n_ != 0; }
  // The stack of goroutine `id`, from its stack pointer. It waits for `waits_on` itself; may be null.
  void search(std::uint64_t id, const void* waits_on, const walk::memory& used) noexcept;
  std::uint64_t holder_of(const void* object) const noexcept;  // 0: not known

 private:
  static constexpr std::size_t kMostObjects = 256, kSlots = 1024;
  static constexpr std::size_t kMostBytes = 8u << 20;

  struct entry {
    const void* object;
    std::uint64_t found;  // who has it on its stack; the last one
    std::uint32_t n;      // how many have
  };
  std::size_t slot_of(const void* object) const noexcept;

  entry entries_[kSlots];
  std::size_t n_, searched_;
};

}  // namespace vole::rt
