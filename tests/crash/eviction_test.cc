// Nothing hangs and nobody dies because Ps are taken away: neither at the program's end, nor in
// calls that concern all threads, nor when there is no thread to be had.

#include "child.h"

namespace vole::crash_test {
namespace {

using testing::HasSubstr;

ended evicting(const char* scenario, const std::vector<std::string>& environment) {
  return run_child("eviction_child", scenario, environment);
}

class Evicting : public testing::TestWithParam<const char*> {};

TEST_P(Evicting, EndsAsItWould) {  // [30]
  for (const char* procs : {"VOLE_MAXPROCS=1", "VOLE_MAXPROCS=2"})
    for (const char* debug : {"VOLE_DEBUG=", "VOLE_DEBUG=storm=20"}) {
      const ended e = evicting(GetParam(), {procs, debug});
      EXPECT_TRUE(exited(e, 7)) << procs << ' ' << debug;
      EXPECT_EQ(e.err, "");
    }
}

INSTANTIATE_TEST_SUITE_P(All, Evicting,
                         testing::Values("exits", "quick_exits", "main_returns",
                                         "main_returns_twice", "forks", "forks_in_blocking",
                                         "sets_gid", "unloads"),
                         [](const auto& one) { return std::string(one.param); });

// The program of many an article: for { } on one P, and main wants to go on.
TEST(EndlessLoop, MainIsScheduledAllTheSame) {  // [30]
  for (const char* debug : {"VOLE_DEBUG=evict=1", "VOLE_DEBUG=strictprocs=1"}) {
    if (emulated()) GTEST_SKIP() << "the emulator has no timers of CPU time for threads";
    const ended e = run_child("eviction_child", "endless_loop", {"VOLE_MAXPROCS=1", debug});
    EXPECT_TRUE(exited(e, 0));
    EXPECT_EQ(e.out, "i got scheduled\n");
  }
}

TEST(EvictionOff, NobodyLosesItsP) {
  const ended e = evicting("evicts_nobody", {"VOLE_DEBUG=evict=0"});
  EXPECT_TRUE(exited(e, 7));
  EXPECT_EQ(e.err, "");
}

TEST(ThreadLimit, HogsKeepTheirPsPastItAndThatIsSaidOnce) {  // [2]
  const ended e = evicting("hogs_at_the_limit", {});
  EXPECT_TRUE(exited(e, 7));
  const std::string said = "the limit of 6 threads is reached";
  EXPECT_THAT(e.err, HasSubstr(said));
  EXPECT_EQ(e.err.find(said), e.err.rfind(said));
}

TEST(ThreadLimit, EvictionsDoNotExhaustIt) {  // [2] [25]
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(exited(evicting("locked_at_the_limit", {}), 7));
}

TEST(ThreadRefused, AfterAnEvictionIsNotFatal) {  // [2]
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody without processes";
  if (kThreadSanitizer) GTEST_SKIP() << "the sanitizer has a thread of its own";
  if (emulated()) GTEST_SKIP() << "the emulator's threads count, too";
  const ended e = evicting("hogs_without_threads", {});
  EXPECT_TRUE(exited(e, 7));
  EXPECT_THAT(e.err, HasSubstr("cannot create a thread (Resource temporarily unavailable)"));
}

}  // namespace
}  // namespace vole::crash_test
