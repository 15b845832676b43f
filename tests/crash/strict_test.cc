// Strict mode [30]: hogs are stopped by a signal, sleep inside its handler, and go on where they
// were. What is tested is that everybody gets on and finds all as it was, never how fast.

#include "child.h"

namespace vole::crash_test {
namespace {

constexpr const char* kStrict = "VOLE_DEBUG=strictprocs=1";
constexpr const char* kStorm = "VOLE_DEBUG=strictprocs=1,storm=200";

std::string name_of(const testing::TestParamInfo<const char*>& tested) { return tested.param; }

class StrictTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (kThreadSanitizer) GTEST_SKIP() << "TSan defers signals: hogs are evicted there";
    if (emulated()) GTEST_SKIP() << "the emulator has no timers of CPU time for threads";
  }
  static ended play(const char* program, const char* debug) {
    return run_child(program, GetParam(), {"VOLE_MAXPROCS=2", debug});
  }
};

class Strict : public StrictTest {};
TEST_P(Strict, EverybodyGetsOn) { EXPECT_TRUE(exited(play("strict_child", kStrict), 0)); }
INSTANTIATE_TEST_SUITE_P(Slices, Strict,
                         testing::Values("hogs_2", "hogs_16", "hogs_64", "signal", "dump", "locked",
                                         "world", "run_returns", "fork_exec", "setgid", "dlclose"),
                         name_of);

class StrictStorm : public StrictTest {};
TEST_P(StrictStorm, EverybodyGetsOn) { EXPECT_TRUE(exited(play("strict_child", kStorm), 0)); }
INSTANTIATE_TEST_SUITE_P(Slices, StrictStorm,
                         testing::Values("begin", "cap", "locked", "world", "run_returns",
                                         "fork_exec", "let_go_and_end", "setgid", "dlclose"),
                         name_of);

class StrictExit : public StrictTest {};
TEST_P(StrictExit, Ends) {
  EXPECT_TRUE(exited(play("strict_child", kStrict), 7));
  EXPECT_TRUE(exited(play("strict_child", kStorm), 7));
}
INSTANTIATE_TEST_SUITE_P(Program, StrictExit,
                         testing::Values("exit_on_goroutine", "exit_on_thread"), name_of);

TEST(StrictExitTest, AmidOutputEnds) {
  if (kThreadSanitizer || emulated()) GTEST_SKIP();
  for (const char* debug : {kStrict, kStorm})
    EXPECT_TRUE(exited(
        run_child("strict_places_child", "exit_amid_stdio", {"VOLE_MAXPROCS=2", debug}), 7));
}

class StrictPlaces : public StrictTest {};
TEST_P(StrictPlaces, AllIsAsItWas) { EXPECT_TRUE(exited(play("strict_places_child", kStorm), 0)); }
INSTANTIATE_TEST_SUITE_P(Stopped, StrictPlaces,
                         testing::Values("mutex", "malloc", "stdio", "loader", "exceptions",
                                         "noexcept", "vdso", "errno", "registers"),
                         name_of);

class StrictSignals : public StrictTest {};
TEST_P(StrictSignals, BesideTheProgramsOwn) {
  EXPECT_TRUE(exited(play("strict_signals_child", kStrict), 0));
  if (std::string_view(GetParam()) == "calls") return;  // a storm does interrupt them
  EXPECT_TRUE(exited(play("strict_signals_child", kStorm), 0));
}
INSTANTIATE_TEST_SUITE_P(Strict, StrictSignals,
                         testing::Values("chained", "stray", "own_alternate_stack",
                                         "blocked_signal", "handler", "handler_on_stack", "calls"),
                         name_of);

constexpr const char* kUser1 = "VOLE_DEBUG=strictprocs=1,preemptsignal=10";

class StrictOtherSignal : public StrictTest {};
TEST_P(StrictOtherSignal, ServesAsWell) {
  EXPECT_TRUE(exited(play("strict_child", kUser1), 0));
}
INSTANTIATE_TEST_SUITE_P(Strict, StrictOtherSignal, testing::Values("hogs_2"), name_of);

class StrictDeadlySignal : public StrictTest {};
TEST_P(StrictDeadlySignal, FromElsewhereStillKills) {
  EXPECT_TRUE(killed(play("strict_signals_child", kUser1), SIGUSR1));
}
INSTANTIATE_TEST_SUITE_P(Strict, StrictDeadlySignal, testing::Values("stray_kills"), name_of);

}  // namespace
}  // namespace vole::crash_test
