// A goroutine's stack overflow has a sentence of its own; every other fault is the program's, and
// goes where it would have gone without us.

#include "child.h"

namespace vole::crash_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

ended fault(const char* scenario, const std::vector<std::string>& environment = {}) {
  return run_child("fault_child", scenario, environment);
}

// The message says which goroutine, how much stack, and what to do.
auto overflow_of(const std::string& who, int bytes) {
  return ContainsRegex("vole: fatal: stack overflow: goroutine [0-9]+" + who + " has used up its " +
                       std::to_string(bytes) +
                       " bytes\\. Give it more: "
                       "go\\(\\{\\.stack_size = \\.\\.\\.\\}, fn\\), or VOLE_STACK_SIZE for all");
}

TEST(Overflow, NamesGoroutineSizeOriginAndRemedy) {
  const ended e = fault("overflow");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, overflow_of("", 262144));
}

TEST(Overflow, DumpFollows) {
  const ended e = fault("overflow_named");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, overflow_of(" \\(digger\\)", 262144));
  EXPECT_THAT(e.err, ContainsRegex("\ngoroutine [0-9]+ \\(digger\\) \\[running\\]:\n(.*\n)*"
                                   "created by goroutine [0-9]+ in "));
  // A sanitizer has a malloc of its own in the program itself: names are then as the linker knows them.
  const bool in_words = !kAddressSanitizer && !kThreadSanitizer;
  if (in_words && e.err.find("fault_child.cc:") != std::string::npos) {  // lines are known here
    EXPECT_THAT(e.err, ContainsRegex("dig\\(int\\)\n\t[^\n]*fault_child\\.cc:[0-9]+\n"
                                     "\\(and [0-9]+ calls more of the same\\)\n"));
    EXPECT_THAT(e.err, ContainsRegex("in [^\n]*overflow_named[^\n]*\n\t[^\n]*fault_child\\.cc:|"
                                     "in [^\n]*on_goroutine[^\n]*\n\t[^\n]*fault_child\\.cc:"));
  }
  EXPECT_THAT(e.err, ContainsRegex("\ngoroutine [0-9]+ \\(main\\) \\[waiting, wait group"));
}

TEST(Overflow, OwnStackSizeIsTold) {
  EXPECT_THAT(fault("overflow_small").err, overflow_of("", 65536));
  EXPECT_THAT(fault("overflow_late").err, overflow_of(" \\(late\\)", 131072));
}

TEST(Overflow, EnvironmentsStackSizeIsTold) {
  const ended e = fault("overflow", {"VOLE_STACK_SIZE=128K"});
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, overflow_of("", 131072));
}

TEST(Overflow, MainGoroutineToo) {
  const ended e = fault("overflow_main");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, overflow_of(" \\(main\\)", 262144));
}

TEST(Overflow, OneProcessor) {
  const ended e = fault("overflow_late", {"VOLE_MAXPROCS=1"});
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, overflow_of(" \\(late\\)", 131072));
}

// The overflow is ours even where the user handles faults.
TEST(Overflow, ComesBeforeTheUsersHandler) {
  const ended e = fault("overflow_handled");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, overflow_of("", 262144));
  EXPECT_EQ(e.out, "");
}

class NotAnOverflow : public testing::TestWithParam<const char*> {};

TEST_P(NotAnOverflow, DiesOfItsOwnSignal) {
  const ended e = fault(GetParam());
  EXPECT_THAT(e.err, Not(HasSubstr("vole: fatal")));
  if (kAddressSanitizer) {  // it has a handler, tells the story and exits
    EXPECT_TRUE(exited(e, 1));
    EXPECT_THAT(e.err, HasSubstr("AddressSanitizer"));
  } else if (kThreadSanitizer) {  // so has this, but for signals that were sent
    EXPECT_TRUE(exited(e, 66) || killed(e, SIGSEGV)) << e.err;
  } else {
    EXPECT_TRUE(killed(e, SIGSEGV));
  }
}

INSTANTIATE_TEST_SUITE_P(Fault, NotAnOverflow,
                         testing::Values("nowhere_goroutine", "nowhere_thread", "nowhere_after_run",
                                         "sent", "thread_overflow", "thread_overflow_heard"),
                         [](const auto& tested) { return std::string(tested.param); });

// Whose it was, and no more: it dies as it would have without us.
#if defined(__x86_64__)  // elsewhere a division by zero is none, and a trap another signal
struct deadly {
  const char* scenario;
  int signal;
  const char* words;
  const char* function;
};
class Fault : public testing::TestWithParam<deadly> {};

TEST_P(Fault, NamesTheGoroutineAndDiesOfItsOwnSignal) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "they handle faults themselves";
  const ended e = fault(GetParam().scenario);
  EXPECT_TRUE(killed(e, GetParam().signal));
  EXPECT_THAT(e.err, ContainsRegex(std::string("^vole: ") + GetParam().words +
                                   ", by the instruction at (program\\+)?0x[0-9a-f]+\n\n"
                                   "goroutine [0-9]+.* \\[running\\]:\n(.*\n)*"
                                   "created by goroutine [0-9]+ in (.*\n)*\n$"));
  if (e.err.find("fault_child.cc:") != std::string::npos) {  // lines are known here
    EXPECT_THAT(e.err, HasSubstr(GetParam().function));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, Fault,
    testing::Values(
        deadly{"nowhere_goroutine", SIGSEGV, "SIGSEGV at address 0x40 in goroutine [0-9]+",
               "read_nowhere"},
        deadly{"nowhere_named", SIGSEGV, "SIGSEGV at address 0x40 in goroutine [0-9]+ \\(lost\\)",
               "read_nowhere"},
        deadly{"nowhere_called", SIGSEGV, "SIGSEGV at address 0x40 in goroutine [0-9]+",
               "call_nowhere"},
        deadly{"beyond_the_file", SIGBUS, "SIGBUS at address 0x[0-9a-f]+ in goroutine [0-9]+",
               "beyond_the_file"},
        deadly{"division", SIGFPE, "SIGFPE in goroutine [0-9]+", "divide_by_zero"},
        deadly{"illegal", SIGILL, "SIGILL in goroutine [0-9]+", "illegal"}),
    [](const auto& tested) { return std::string(tested.param.scenario); });

// The thread might hold malloc's lock: nothing that takes memory is done.
TEST(FaultBelowMallocsLibrary, NamesStayAsTheLinkerKnowsThem) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "they handle faults themselves";
  const ended e = fault("nowhere_below_libc");
  EXPECT_TRUE(killed(e, SIGSEGV));
  EXPECT_THAT(e.err, ContainsRegex("^vole: SIGSEGV at address 0x40 in goroutine [0-9]+"));
  if (e.err.find("fault_child.cc:") != std::string::npos) {
    EXPECT_THAT(e.err, HasSubstr("15compare_nowhereE"));
  }
}

TEST(FaultOnAPlainThread, IsNoneOfOurs) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "they handle faults themselves";
  for (const char* scenario : {"nowhere_thread", "nowhere_after_run", "sent", "division_thread"})
    EXPECT_EQ(fault(scenario).err, "") << scenario;
}
#endif

class Handled : public testing::TestWithParam<const char*> {};

TEST_P(Handled, ByTheUsersHandlerFromBeforeRun) {
  const ended e = fault(GetParam());
  EXPECT_TRUE(exited(e, 42));
  EXPECT_EQ(e.out, "the user's handler\n");
  EXPECT_THAT(e.err, Not(HasSubstr("vole:")));  // it may repair it
}

INSTANTIATE_TEST_SUITE_P(Fault, Handled,
                         testing::Values("handled_goroutine", "handled_goroutine_siginfo",
                                         "handled_thread", "handled_after_run"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace vole::crash_test
