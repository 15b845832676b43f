// The twin of src/sched/life/value_move.h: the model's values are bytes.
#pragma once

namespace vole::rt {

struct value_move {
  value_move() noexcept {}
  ~value_move() {}
};
inline bool in_value_move() noexcept { return false; }
inline void refuse_in_value_move() noexcept {}

}  // namespace vole::rt
