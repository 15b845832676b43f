// fork() while a runtime runs. The child has one thread and no runtime: it may exec or _exit, and
// whatever it asks of vole is fatal with a sentence. The parent notices nothing.

#include "child.h"

namespace vole::crash_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

ended forks(const char* scenario) { return run_child("fork_child", scenario); }

const std::string kGoesOn = "parent: goes on\n";

std::string child(const char* how) { return kGoesOn + "child: " + how + "\n" + kGoesOn; }

class Refused : public testing::TestWithParam<const char*> {};

TEST_P(Refused, InTheChildParentGoesOn) {
  const ended e = forks(GetParam());
  EXPECT_TRUE(exited(e, 0));
  EXPECT_THAT(e.out, EndsWith("child: signal 6\n" + kGoesOn));
  EXPECT_THAT(e.err, HasSubstr("vole: fatal: vole was called in a forked child"));
  EXPECT_THAT(e.err, HasSubstr("exec"));
}

INSTANTIATE_TEST_SUITE_P(Fork, Refused,
                         testing::Values("goroutine_go", "goroutine_go_owner", "goroutine_yield",
                                         "goroutine_wait", "goroutine_run", "goroutine_dump",
                                         "goroutine_stats", "goroutine_procs", "goroutine_threads",
                                         "goroutine_returns", "thread_go", "thread_go_owner",
                                         "thread_wait", "thread_run", "thread_dump", "thread_stats",
                                         "thread_procs", "thread_threads", "implicit"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(Fork, ChildMayExec) {
  for (const char* scenario : {"goroutine_exec", "thread_exec"}) {
    const ended e = forks(scenario);
    EXPECT_TRUE(exited(e, 0));
    EXPECT_EQ(e.out, child("exit 7"));
    EXPECT_EQ(e.err, "");
  }
}

TEST(Fork, ChildMayExit) {
  for (const char* scenario : {"goroutine_exit", "thread_exit"}) {
    const ended e = forks(scenario);
    EXPECT_TRUE(exited(e, 0));
    EXPECT_EQ(e.out, child("exit 5"));
    EXPECT_EQ(e.err, "");
  }
}

TEST(Fork, ChildIsFreeWhereNoRuntimeRuns) {
  if (kThreadSanitizer) GTEST_SKIP() << "it refuses new threads in a forked child";
  const ended before = forks("before_run");
  EXPECT_TRUE(exited(before, 0));
  EXPECT_EQ(before.out, kGoesOn + "child: exit 6\n");
  const ended after = forks("after_run");
  EXPECT_TRUE(exited(after, 0));
  EXPECT_EQ(after.out, kGoesOn + kGoesOn + "child: exit 6\n" + kGoesOn);
  EXPECT_EQ(after.err, "");
}

TEST(Fork, ParentAndChildHaveAPollerEach) {
  if (kThreadSanitizer) GTEST_SKIP() << "it refuses new threads in a forked child";
  const ended e = forks("sockets");
  EXPECT_TRUE(exited(e, 0));
  EXPECT_EQ(e.out, "parent: exit 6\nchild: exit 6\n");
  EXPECT_EQ(e.err, "");
}

}  // namespace
}  // namespace vole::crash_test
