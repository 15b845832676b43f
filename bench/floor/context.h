// The switch between contexts, hand-written; amd64 only.
//
// A context that does not run is its stack pointer. Above it lies what the calling convention lets
// a function rely on: six registers, MXCSR and the x87 control word, which are loaded only where
// they differ, which is hardly ever.
#pragma once

#include "floor.h"

namespace bench {

extern const bool can_switch;

// Leaves the running context, whose stack pointer goes to *from, for the one at `to`.
extern "C" void floor_switch(void** from, void* to);
extern "C" void floor_start();

// A context that calls body(argument) when first switched to. It must not return.
inline void* prepare(std::byte* top, void (*body)(void*), void* argument) {
  auto* const frame = reinterpret_cast<std::uint64_t*>(top) - 8;
  frame[0] = 0x0000'037f'0000'1f80;                       // control words: the usual
  frame[1] = frame[2] = 0;                                // r15, r14
  frame[3] = reinterpret_cast<std::uintptr_t>(body);      // r13
  frame[4] = reinterpret_cast<std::uintptr_t>(argument);  // r12
  frame[5] = frame[6] = 0;                                // rbx, rbp
  frame[7] = reinterpret_cast<std::uintptr_t>(&floor_start);
  return frame;
}

// Up to kMost contexts, and the thread's own, that leave for each other by number.
class troupe {
 public:
  static constexpr std::size_t kMost = 16, kMain = kMost;

  void add(std::size_t number, void (*body)(void*), void* argument) {
    stacks_.guard(number, 1);
    sp_[number] = prepare(stacks_.top(number), body, argument);
  }
  void leave(std::size_t me, std::size_t next) { floor_switch(&sp_[me], sp_[next]); }

 private:
  stack_range stacks_{kMost};
  void* sp_[kMost + 1] = {};
};

}  // namespace bench
