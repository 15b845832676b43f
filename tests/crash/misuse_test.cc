// A broken invariant ends the program with a sentence and, while a runtime runs, the dump of all
// goroutines.

#include "child.h"

namespace vole::crash_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

ended misuse(const char* scenario) { return run_child("misuse_child", scenario); }

void expect_dump(const ended& e) {
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("\n\ngoroutine [0-9]+ \\(main\\) \\[running\\]:\n"));
  EXPECT_THAT(e.err,
              ContainsRegex("\ngoroutine [0-9]+ \\(bystander\\) \\[waiting, wait group.*\\]:\n"
                            "(.*\n)*created by goroutine [0-9]+ in "));
}

TEST(WaitGroup, NegativeIsFatal) {
  const ended e = misuse("negative");
  EXPECT_THAT(e.err, StartsWith("vole: fatal: wait_group: negative count"));
  expect_dump(e);
}

TEST(WaitGroup, OverflowIsFatal) {
  const ended e = misuse("too_many");
  EXPECT_THAT(e.err, StartsWith("vole: fatal: wait_group: count overflow"));
  expect_dump(e);
}

TEST(WaitGroup, DestroyedWhileNotZeroIsFatal) {
  const ended e = misuse("destroyed");
  EXPECT_THAT(e.err, StartsWith("vole: fatal: wait_group: destroyed while"));
  EXPECT_THAT(e.err, HasSubstr("wait() before"));
  expect_dump(e);
}

TEST(WaitGroup, ReusedBeforeItsWaitersAreReleasedIsFatal) {
  const ended e = misuse("reused");
  EXPECT_THAT(e.err,
              StartsWith("vole: fatal: wait_group: add() while waiters of the round before"));
  expect_dump(e);
}

TEST(WaitGroup, NoRuntimeNoDump) {
  const ended negative = misuse("negative_on_thread");
  EXPECT_TRUE(aborted(negative));
  EXPECT_THAT(negative.err, ContainsRegex("^vole: fatal: wait_group: negative count[^\n]*\n$"));
  const ended destroyed = misuse("destroyed_on_thread");
  EXPECT_TRUE(aborted(destroyed));
  EXPECT_THAT(destroyed.err, ContainsRegex("^vole: fatal: wait_group: destroyed while[^\n]*\n$"));
}

TEST(Runtime, SignalHandlerThatInterruptsItMustNotCallIt) {
#ifndef VOLE_CHECKED
  GTEST_SKIP() << "only checked builds look";
#endif
  const ended e = misuse("signal");
  EXPECT_THAT(e.err, HasSubstr("vole: fatal: entered the runtime twice"));
  EXPECT_THAT(e.err, HasSubstr("signal handler"));
  expect_dump(e);
}

}  // namespace
}  // namespace vole::crash_test
