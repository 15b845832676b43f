// Signals that a program hears of, and those that end it.

#include "child.h"

namespace vole::crash_test {
namespace {

using testing::StartsWith;

ended signal_child(const char* scenario) { return run_child("signal_child", scenario); }

TEST(SignalCrash, AfterTheLastRegistrationTheDefaultActionIsBack) {
  const ended e = signal_child("default_again");
  EXPECT_TRUE(killed(e, SIGINT));
  EXPECT_EQ(e.out, "heard\n");
}

TEST(SignalCrash, AfterAResetTheDefaultActionIsBack) {
  const ended e = signal_child("default_again_after_reset");
  EXPECT_TRUE(killed(e, SIGINT));
  EXPECT_EQ(e.out, "heard\n");
}

TEST(SignalCrash, AfterCancelOfASignalContextTheDefaultActionIsBack) {
  const ended e = signal_child("second_one_after_cancel");
  EXPECT_TRUE(killed(e, SIGINT));
  EXPECT_EQ(e.out, "heard\n");
}

TEST(SignalCrash, AnIgnoredSignalDoesNotKill) {
  EXPECT_TRUE(exited(signal_child("ignored"), 4));
}

TEST(SignalCrash, WaitingForASignalIsNoDeadlock) {
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer delays such signals";
  EXPECT_TRUE(exited(signal_child("waits_for_a_signal"), 0));
}

TEST(SignalCrash, WithoutARegistrationItIsOne) {
  const ended e = signal_child("registration_ended");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, StartsWith("vole: fatal: all goroutines are asleep - deadlock!"));
}

TEST(SignalCrash, AForkedChildDoesNotWaitForTheTeller) {
  EXPECT_TRUE(exited(signal_child("forked_child_ends_it"), 0));
}

TEST(SignalCrash, ExitWithARegistrationAlive) {
  EXPECT_TRUE(exited(signal_child("ends_with_exit"), 3));
}

}  // namespace
}  // namespace vole::crash_test
