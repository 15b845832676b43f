// A compiler that sees a whole program remembers where a thread's variables are, and a goroutine that
// has migrated writes another thread's (userver-framework/userver#235, llvm/llvm-project#98479).
//
//     reads the thread's word (M1)
//     parks; goes on, on another thread
//     "reads" it again: M1, which the compiler has kept
//
// Here the word changes under a function that the compiler sees whole, and optimises in every build.

#ifndef __clang__
#pragma GCC optimize("O2")
#endif

#include "arch/thread_word.h"

#include <gtest/gtest.h>

namespace {

using vole::arch::this_m, vole::arch::set_this_m;

struct seen {
  vole::rt::M *before, *after;
};

[[gnu::noinline]] seen read_twice(vole::rt::M* other) {
  vole::rt::M* const before = this_m();
  set_this_m(other);
  vole::rt::M* const after = this_m();
  set_this_m(before);
  return {before, after};
}

TEST(ThreadWord, IsReadAnew) {
  static int place;
  auto* const other = reinterpret_cast<vole::rt::M*>(&place);
  const seen s = read_twice(other);
  EXPECT_EQ(s.before, nullptr);
  EXPECT_EQ(s.after, other);
}

}  // namespace
