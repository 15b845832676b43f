// Is this thread in the middle of a value's move, under a channel's lock?
//
// The move of a value that does not throw, and the destructor of the value it leaves behind, are the
// only user code that runs inside the runtime. A channel is locked then, and its P may be inside a
// biased lock (base/bias.h), so that code may neither wait for anybody nor wake anybody.
//
// Who    chan marks each such call with a value_move. enter() and guest_enter() ask in_value_move(),
//        and so do the functions that wait or wake without entering.
// Law    nothing between the constructor and the destructor of value_move changes the thread: every
//        way to do that is refused.
// Proof  tests/crash/value_move_test.cc, tests/regress/selects_wait_for_each_other_test.cc
#pragma once

namespace vole::rt {

class value_move {
 public:
  value_move() noexcept;
  ~value_move();
  value_move(const value_move&) = delete;
  value_move& operator=(const value_move&) = delete;
};

bool in_value_move() noexcept;
[[noreturn]] void called_in_value_move() noexcept;
inline void refuse_in_value_move() noexcept {
  if (in_value_move()) [[unlikely]]
    called_in_value_move();
}

}  // namespace vole::rt
