// Threads [2], records, stacks: whatever runs out has a sentence that says what would help.

#include "child.h"

#include <unistd.h>

namespace vole::crash_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

ended limits(const char* scenario, const std::vector<std::string>& environment = {}) {
  return run_child("limits_child", scenario, environment);
}

ended on_one_p(const char* scenario) { return limits(scenario, {"VOLE_MAXPROCS=1"}); }

#define NEEDS_A_CLOSED_ADDRESS_SPACE()                                                       \
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the sanitizer maps terabytes"; \
  if (emulated()) GTEST_SKIP() << "the emulator keeps RLIMIT_AS to itself"

void expect_thread_exhaustion(const ended& e, int limit) {
  EXPECT_TRUE(aborted(e));
  // A thread that is held up for long at the limit is told of before, once.
  const std::string n = std::to_string(limit);
  EXPECT_THAT(e.err, ContainsRegex("^(vole: the limit of " + n +
                                   " threads is reached: [^\n]*\n)?"
                                   "vole: fatal: thread exhaustion: the program needs more than " +
                                   n + " threads"));
  EXPECT_THAT(e.err, HasSubstr("set_max_threads"));
}

TEST(ThreadLimit, OneTooManyIsFatal) {
  for (const char* procs : {"VOLE_MAXPROCS=1", "VOLE_MAXPROCS=2", "VOLE_MAXPROCS=4"}) {
    const ended e = limits("thread_limit", {procs});
    expect_thread_exhaustion(e, 6);
    EXPECT_THAT(e.err, ContainsRegex("\n(goroutine [0-9]+|[0-9]+ goroutines .*) \\[waiting, "
                                     "wait group.*, locked to thread\\]:\n"));
  }
}

TEST(ThreadLimit, SetBeforeTheStartHolds) {
  expect_thread_exhaustion(on_one_p("thread_limit_of_one"), 1);
}

TEST(ThreadLimit, ReusedThreadsDoNotCountTwice) {
  const ended e = limits("threads_within_the_limit", {"VOLE_MAXPROCS=4"});
  EXPECT_TRUE(exited(e, 0));
  EXPECT_EQ(e.err, "");
}

TEST(ThreadRefused, ByWantOfMemory) {
  NEEDS_A_CLOSED_ADDRESS_SPACE();
  const ended e = on_one_p("no_memory_for_a_thread");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("^vole: fatal: cannot create a thread \\(Cannot allocate memory|"
                                   "^vole: fatal: cannot create a thread \\(Resource"));
  EXPECT_THAT(e.err, HasSubstr("goroutine "));
}

TEST(ThreadRefused, ByTheKernelsLimit) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody without processes";
  if (kThreadSanitizer) GTEST_SKIP() << "the sanitizer has a thread of its own";
  if (emulated()) GTEST_SKIP() << "the emulator's threads count, too";
  const ended e = limits("no_more_threads");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, StartsWith("vole: fatal: cannot create a thread (Resource temporarily "
                                "unavailable)"));
  EXPECT_THAT(e.err, HasSubstr("ulimit -u"));
}

TEST(ThreadRefused, AtTheStart) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody without processes";
  if (kThreadSanitizer) GTEST_SKIP() << "the sanitizer has a thread of its own";
  if (emulated()) GTEST_SKIP() << "the emulator's threads count, too";
  const ended e = limits("no_first_thread");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, StartsWith("vole: fatal: cannot create the thread maker's thread: Resource "
                                "temporarily unavailable"));
  EXPECT_THAT(e.err, HasSubstr("ulimit -u"));
}

TEST(Memory, NoRoomForRecords) {
  NEEDS_A_CLOSED_ADDRESS_SPACE();
  for (const char* scenario : {"records", "records_from_thread"}) {
    const ended e = on_one_p(scenario);
    EXPECT_TRUE(aborted(e)) << scenario;
    // The one thread may be on its way to sleep when the other wakes it: then a second is wanted.
    if (e.err.starts_with("vole: fatal: cannot create a thread (Cannot allocate memory)")) continue;
    EXPECT_THAT(e.err, StartsWith("vole: fatal: out of memory: "));
    EXPECT_THAT(e.err, HasSubstr("a goroutine's record"));
    EXPECT_THAT(e.err, HasSubstr("ewer goroutines at once or a higher memory limit would help"));
  }
}

TEST(Memory, NoRoomForAStack) {
  NEEDS_A_CLOSED_ADDRESS_SPACE();
  const ended e = on_one_p("stacks");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("^vole: fatal: cannot get a stack of 67108864 bytes for "
                                   "goroutine [0-9]+ \\(large\\): Cannot allocate memory"));
  EXPECT_THAT(e.err, HasSubstr("would help"));
}

TEST(Memory, NoRoomForManyStacks) {
  NEEDS_A_CLOSED_ADDRESS_SPACE();
  const ended e = on_one_p("many_stacks");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("^vole: fatal: (cannot get a stack of 262144 bytes for "
                                   "goroutine|out of memory: )"));
}

TEST(Memory, NoRoomToStart) {
  NEEDS_A_CLOSED_ADDRESS_SPACE();
  const ended e = on_one_p("before_the_start");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("^vole: fatal: (out of memory: |cannot create the )"));
  EXPECT_THAT(e.err, HasSubstr("memory limit"));
}

}  // namespace
}  // namespace vole::crash_test
