// The program ends while goroutines run, wait or queue: at once, with its own status, in silence.

#include "child.h"

namespace vole::crash_test {
namespace {

using testing::ContainsRegex;

ended exits(const char* scenario, const std::vector<std::string>& environment = {}) {
  return run_child("exit_child", scenario, environment);
}

struct expected {
  const char* scenario;
  int status;
  const char* out;
};

void PrintTo(const expected& x, std::ostream* to) { *to << x.scenario; }

class Exit : public testing::TestWithParam<expected> {};

TEST_P(Exit, AtOnceAndInSilence) {
  for (const char* procs : {"VOLE_MAXPROCS=1", "VOLE_MAXPROCS=4"}) {
    const ended e = exits(GetParam().scenario, {procs});
    EXPECT_TRUE(exited(e, GetParam().status));
    EXPECT_EQ(e.out, GetParam().out);
    EXPECT_EQ(e.err, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Program, Exit,
                         testing::Values(expected{"exit_from_goroutine", 3, "destroyed\n"},
                                         expected{"exit_from_another", 3, "destroyed\n"},
                                         expected{"quick", 3, ""}, expected{"implicit_busy", 0, ""},
                                         expected{"implicit_parked", 0, ""},
                                         expected{"implicit_queued", 0, ""},
                                         expected{"run_leaves_others", 4, ""},
                                         expected{"static_at_zero", 0, ""},
                                         expected{"used_by_exit_handler", 0, "in the handler\n"},
                                         expected{"run_by_exit_handler", 0, "in the handler\n"}),
                         [](const auto& tested) { return std::string(tested.param.scenario); });

TEST(ProgramExit, RuntimeStartedBeforeMain) {
  const ended e = exits("after_early_start", {"START_EARLY=1"});
  EXPECT_TRUE(exited(e, 0));
  EXPECT_EQ(e.out, "before main\nin main\n");
  EXPECT_EQ(e.err, "");
}

// The rule for destructors holds for static ones, too: somebody still counts on the group.
TEST(ProgramExit, StaticWaitGroupThatIsNotZero) {
  const ended e = exits("static_not_zero");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("^vole: fatal: wait_group: destroyed while"));
}

}  // namespace
}  // namespace vole::crash_test
