// VOLE_MAXPROCS, GOMAXPROCS [3], VOLE_STACK_SIZE, VOLE_DEBUG: what is good works, what is not
// ends the program with status 2 and a sentence that names variable, value and remedy.

#include "child.h"

namespace vole::crash_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct setting {
  std::string name, value;
  std::string entry() const { return name + "=" + value; }
};

void PrintTo(const setting& s, std::ostream* to) { *to << s.entry(); }

ended with(const setting& s, const char* scenario) {
  return run_child("environment_child", scenario, {s.entry()});
}

class Refused : public testing::TestWithParam<setting> {};

TEST_P(Refused, WithVariableValueAndRemedy) {
  for (const char* scenario : {"goroutine", "implicit", "procs"}) {
    const ended e = with(GetParam(), scenario);
    EXPECT_TRUE(exited(e, 2)) << scenario;
    EXPECT_EQ(e.out, "");
    EXPECT_THAT(e.err, StartsWith("vole: " + GetParam().name + "=\"" + GetParam().value + "\""));
    EXPECT_THAT(e.err, HasSubstr(GetParam().name == "VOLE_DEBUG" ? "evict=" : "must be a "));
    EXPECT_THAT(e.err, EndsWith("\n"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Procs, Refused,
    testing::Values(setting{"VOLE_MAXPROCS", "abc"}, setting{"VOLE_MAXPROCS", "0"},
                    setting{"VOLE_MAXPROCS", "-1"}, setting{"VOLE_MAXPROCS", "+1"},
                    setting{"VOLE_MAXPROCS", "1e9"}, setting{"VOLE_MAXPROCS", ""},
                    setting{"VOLE_MAXPROCS", " 4"}, setting{"VOLE_MAXPROCS", "4 "},
                    setting{"VOLE_MAXPROCS", "0x4"}, setting{"VOLE_MAXPROCS", "1025"},
                    setting{"VOLE_MAXPROCS", "18446744073709551617"}, setting{"GOMAXPROCS", "abc"},
                    setting{"GOMAXPROCS", "0"}));

INSTANTIATE_TEST_SUITE_P(
    StackSize, Refused,
    testing::Values(setting{"VOLE_STACK_SIZE", "1"}, setting{"VOLE_STACK_SIZE", "abc"},
                    setting{"VOLE_STACK_SIZE", "K"}, setting{"VOLE_STACK_SIZE", "16383"},
                    setting{"VOLE_STACK_SIZE", "2G"}, setting{"VOLE_STACK_SIZE", "-1"},
                    setting{"VOLE_STACK_SIZE", ""}, setting{"VOLE_STACK_SIZE", "64 K"},
                    setting{"VOLE_STACK_SIZE", "64KB"}, setting{"VOLE_STACK_SIZE", "64k"},
                    setting{"VOLE_STACK_SIZE", "17179869185G"}));  // 2^64 + 1G: wraps to 1G

INSTANTIATE_TEST_SUITE_P(Debug, Refused,
                         testing::Values(setting{"VOLE_DEBUG", "nonsense=1"},
                                         setting{"VOLE_DEBUG", "nonsense"},
                                         setting{"VOLE_DEBUG", "evict=2"},
                                         setting{"VOLE_DEBUG", "storm=100,stalls=100"}));

TEST(Environment, LongValueIsCutNotTheReason) {
  const ended e = with({"VOLE_MAXPROCS", std::string(3000, 'x')}, "procs");
  EXPECT_TRUE(exited(e, 2));
  EXPECT_THAT(e.err, HasSubstr("xxx...\""));
  EXPECT_THAT(e.err, EndsWith("must be a whole number from 1 to 1024\n"));
}

TEST(Environment, MaxProcsIsHonoured) {
  for (const char* scenario : {"procs", "procs_in_run"}) {
    const ended e = with({"VOLE_MAXPROCS", "3"}, scenario);
    EXPECT_TRUE(exited(e, 0));
    EXPECT_EQ(e.out, "procs 3\n");
    EXPECT_EQ(e.err, "");
  }
  EXPECT_EQ(with({"GOMAXPROCS", "5"}, "procs").out, "procs 5\n");
  EXPECT_EQ(with({"VOLE_MAXPROCS", "1024"}, "procs").out, "procs 1024\n");
}

TEST(Environment, OwnVariableBeatsGos) {
  const ended e =
      run_child("environment_child", "procs_in_run", {"GOMAXPROCS=5", "VOLE_MAXPROCS=3"});
  EXPECT_TRUE(exited(e, 0));
  EXPECT_EQ(e.out, "procs 3\n");
  EXPECT_EQ(run_child("environment_child", "procs", {"GOMAXPROCS=junk", "VOLE_MAXPROCS=3"}).out,
            "procs 3\n");
}

TEST(Environment, ProgramBeatsVariable) {
  EXPECT_EQ(with({"VOLE_MAXPROCS", "3"}, "set_before").out, "procs 2\n");
  EXPECT_TRUE(exited(with({"VOLE_MAXPROCS", "junk"}, "set_before"), 2));
}

TEST(Environment, StackSizesThatWork) {
  for (const char* size : {"16K", "16384", "1M", "1G", "100000"}) {
    const ended e = with({"VOLE_STACK_SIZE", size}, "goroutine");
    EXPECT_TRUE(exited(e, 0)) << size;
    EXPECT_EQ(e.out, "ran 1\n") << size;
    EXPECT_EQ(e.err, "") << size;
  }
}

TEST(Environment, DebugSettingsThatWork) {
  for (const char* list : {"evict=0", "evict=1", "storm=100", "storm=1000,evict=1"}) {
    const ended e = with({"VOLE_DEBUG", list}, "goroutine");
    EXPECT_TRUE(exited(e, 0)) << list;
    EXPECT_EQ(e.out, "ran 1\n") << list;
    EXPECT_EQ(e.err, "") << list;
  }
}

TEST(Environment, EmptyDebugListIsEmpty) {
  const ended e = with({"VOLE_DEBUG", ""}, "goroutine");
  EXPECT_TRUE(exited(e, 0));
  EXPECT_EQ(e.err, "");
}

}  // namespace
}  // namespace vole::crash_test
