// A condition that is mostly true, where it matters how the code lies: what is likely follows
// without a jump (docs/design/0015-few-branches.md).
//
// Note   [[likely]] on a statement does not reach into a condition of several parts, and gcc
//        takes a pointer for likely not to be null.
#pragma once

namespace vole::base {

[[gnu::always_inline]] inline bool likely(bool condition) noexcept {
  return __builtin_expect(static_cast<long>(condition), 1L) != 0;
}

}  // namespace vole::base
