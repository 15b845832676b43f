// Deadlock [34]: reported with a dump where it is certain, and never otherwise.

#include "child.h"

namespace vole::crash_test {
namespace {

using testing::ContainsRegex;
using testing::StartsWith;

ended deadlock(const char* scenario) { return run_child("deadlock_child", scenario); }

TEST(Deadlock, AllAsleepIsFatalWithADump) {
  const ended e = deadlock("all_asleep");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, StartsWith("vole: fatal: all goroutines are asleep - deadlock!"));
  EXPECT_THAT(e.err, ContainsRegex("\\(main\\) \\[waiting, chan receive"));
  EXPECT_THAT(e.err, ContainsRegex("\\(sender\\) \\[waiting, chan send"));
}

TEST(Deadlock, MainExitedAndNobodyLeftIsFatal) {
  const ended e = deadlock("main_exited");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, StartsWith("vole: fatal: no goroutines (main called exit_goroutine)"));
}

TEST(Deadlock, PlainThreadCouldStillSend) {
  EXPECT_TRUE(exited(deadlock("thread_may_send"), 0));
}

TEST(Deadlock, PlainThreadThatEndsWithoutSendingIsNoHope) {
  const ended e = deadlock("thread_ends");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, StartsWith("vole: fatal: all goroutines are asleep - deadlock!"));
}

TEST(Deadlock, PendingTimerIsNoDeadlock) { EXPECT_TRUE(exited(deadlock("timer_pends"), 0)); }

TEST(Deadlock, PendingTickerIsNoDeadlock) { EXPECT_TRUE(exited(deadlock("ticker_ticks"), 0)); }

TEST(Deadlock, StoppedTimersAreNoHope) {
  const ended e = deadlock("timers_are_stopped");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, StartsWith("vole: fatal: all goroutines are asleep - deadlock!"));
}

}  // namespace
}  // namespace vole::crash_test
