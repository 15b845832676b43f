// Misuse of what goroutines wait on: a sentence that names the object, or the deadlock report.

#include "child.h"

namespace vole::crash_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

ended misuse(const char* scenario) { return run_child("sync_misuse_child", scenario); }

void expect_fatal(const char* scenario, const char* sentence) {
  const ended e = misuse(scenario);
  EXPECT_TRUE(aborted(e)) << scenario;
  EXPECT_THAT(e.err, StartsWith(std::string("vole: fatal: ") + sentence)) << scenario;
}

// The main goroutine waits for itself, and nobody else is there.
void expect_deadlock(const char* scenario, const char* why) {
  const ended e = misuse(scenario);
  EXPECT_TRUE(aborted(e)) << scenario;
  EXPECT_THAT(e.err, StartsWith("vole: fatal: all goroutines are asleep - deadlock!")) << scenario;
  EXPECT_THAT(e.err, HasSubstr(std::string("(main) [waiting, ") + why)) << scenario;
}

// What happened, to whom, by whom, and what to do.
TEST(Sync, MisuseNamesTheObjectAndWhoDidItAndWhatToDo) {
  const auto says = [](const char* scenario, const std::string& pattern) {
    EXPECT_THAT(misuse(scenario).err, ContainsRegex("^vole: fatal: " + pattern)) << scenario;
  };
  const std::string by = R"( \(goroutine [0-9]+, the )";
  says("latch_overrun", "latch: counted down[^(]*" + by + "latch at 0x[0-9a-f]+\\)\\. It is made with");
  says("mutex_unlock", "mutex: unlock of[^(]*" + by + "mutex at 0x[0-9a-f]+\\)\\. Each unlock\\(\\) must");
  says("condition_two_mutexes", "condition_variable: waited on[^(]*" + by + "condition_variable at 0x");
  says("shared_unlock", "shared_mutex: unlock of[^.]*" + by +
                            "shared_mutex at 0x[0-9a-f]+\\)\\. Each unlock\\(\\) must follow");
  says("semaphore_destroyed", "semaphore: destroyed while[^(]*" + by + "semaphore at 0x");
  says("barrier_overrun",
       "barrier: more arrivals[^(]*\\(goroutine [0-9]+\\)\\. A party that arrives again");
}

TEST(Mutex, UnlockOfAnUnlockedOneIsFatal) {
  for (const char* scenario : {"mutex_unlock", "mutex_unlock_on_thread", "mutex_unlock_twice"})
    expect_fatal(scenario, "mutex: unlock of an unlocked mutex");
}

TEST(SharedMutex, UnlockOfAnUnlockedOneIsFatal) {
  for (const char* scenario : {"shared_unlock", "shared_unlock_of_reader"})
    expect_fatal(scenario, "shared_mutex: unlock of a mutex that is not locked");
  for (const char* scenario : {"shared_unlock_shared", "shared_unlock_shared_of_writer"})
    expect_fatal(scenario, "shared_mutex: unlock_shared of a mutex that nobody has locked shared");
}

TEST(Mutex, LockedTwiceBySoleGoroutineIsADeadlock) { expect_deadlock("mutex_recursive", "mutex"); }

TEST(SharedMutex, LockedTwiceBySoleGoroutineIsADeadlock) {
  expect_deadlock("shared_recursive", "shared mutex (read)");
  expect_deadlock("shared_upgrade", "shared mutex (write)");
}

TEST(SharedMutex, ReaderThatReadsAgainBehindAWriterIsADeadlock) {
  expect_deadlock("shared_again_behind_a_writer", "shared mutex (read)");
}

TEST(Once, CalledByItsOwnFunctionIsADeadlock) { expect_deadlock("once_recursive", "once"); }

TEST(Semaphore, MoreThanThereWillEverBeIsADeadlock) {
  expect_deadlock("semaphore_too_much", "semaphore");
}

TEST(Latch, CountedDownTooFarIsFatal) {
  expect_fatal("latch_overrun", "latch: counted down by a negative number, or by more than is left");
}

TEST(Barrier, MoreArrivalsThanExpectedAreFatal) {
  expect_fatal("barrier_overrun", "barrier: more arrivals than are expected in this phase");
}

TEST(ConditionVariable, TwoMutexesAtOnceAreFatal) {
  expect_fatal("condition_two_mutexes", "condition_variable: waited on with two mutexes");
}

TEST(ConditionVariable, TimedWaitWithoutTheLockIsFatal) {
  expect_fatal("condition_without_lock", "condition_variable: wait() with a std::unique_lock");
}

TEST(Sync, DestroyedWhileSomebodyWaitsIsFatal) {
  expect_fatal("mutex_destroyed", "mutex: destroyed while somebody waits");
  expect_fatal("shared_destroyed", "shared_mutex: destroyed while somebody waits");
  expect_fatal("semaphore_destroyed", "semaphore: destroyed while somebody waits");
  expect_fatal("latch_destroyed", "latch: destroyed while somebody waits");
  expect_fatal("barrier_destroyed", "barrier: destroyed while somebody waits");
  expect_fatal("condition_destroyed", "condition_variable: destroyed while somebody waits");
  expect_fatal("timed_condition_destroyed", "condition_variable: destroyed while somebody waits");
  expect_fatal("once_destroyed", "once: destroyed while somebody waits");
}

TEST(Sync, ExitMayDestroyWhatSomebodyWaitsFor) {
  const ended e = misuse("exit_while_waiting");
  EXPECT_TRUE(exited(e, 3)) << e.err;
  EXPECT_EQ(e.err, "");
}

TEST(Chan, UncaughtSendOnAClosedOneSaysSo) {
  const ended e = misuse("send_on_closed");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("^panic: vole::.*channel_closed: .*send on a closed channel"));
  EXPECT_THAT(e.err, HasSubstr("(late)"));
}

TEST(Chan, BoxedValueWhoseMoveThrowsIsFatal) {
  for (const char* scenario :
       {"boxed_send", "boxed_send_on_thread", "boxed_recv", "boxed_given_back", "boxed_select"})
    expect_fatal(scenario, "chan: a value's move constructor has thrown (boom)");
}

// Inside the runtime, under the channel's lock: the language ends the program, we say who it was.
TEST(Chan, ValueWhoseNoexceptMoveThrowsIsFatal) {
  for (const char* scenario : {"itself_send", "itself_recv"}) {
    const ended e = misuse(scenario);
    EXPECT_TRUE(aborted(e)) << scenario;
    EXPECT_THAT(e.err, StartsWith("panic: std::runtime_error: boom")) << scenario;
    EXPECT_THAT(e.err, HasSubstr("(main)")) << scenario;
  }
}

}  // namespace
}  // namespace vole::crash_test
