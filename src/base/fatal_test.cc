#include "base/fatal.h"

#include <gtest/gtest.h>
#include <csignal>

#include <string>
#include <thread>

#include "base/atomic.h"
#include "base/note.h"

namespace vole::base {
namespace {

TEST(Sentence, WritesNumbersAndHex) {
  sentence s;
  s << "a " << 0 << " " << -17 << " " << std::uint64_t{18446744073709551615u} << " "
    << std::int64_t{INT64_MIN} << " ";
  s.hex(0xdeadbeef).hex(0);
  EXPECT_EQ(s.view(), "a 0 -17 18446744073709551615 -9223372036854775808 0xdeadbeef0x0");
}

TEST(Sentence, CutsWhatDoesNotFit) {
  sentence s;
  for (int i = 0; i < 100; ++i) s << "0123456789";
  EXPECT_EQ(s.view().size(), sentence::kRoom);
  s << "more" << 5;
  EXPECT_EQ(s.view().size(), sentence::kRoom);
}

TEST(FatalDeathTest, PrintsTheSentenceAndAborts) {
  EXPECT_EXIT(fatal("room: it broke"), testing::KilledBySignal(SIGABRT),
              "vole: fatal: room: it broke\n");
}

// Who broke one of our own rules can do nothing about it but report it.
TEST(FatalDeathTest, ABrokenRuleOfOurOwnSaysWhatToDo) {
  EXPECT_EXIT(broken("room: a rule"), testing::KilledBySignal(SIGABRT),
              "^vole: fatal: room: a rule\\. This is a fault of vole's own: please report it");
}

TEST(FatalDeathTest, LongSentenceKeepsItsNewline) {
  EXPECT_EXIT(fatal(std::string(2000, 'x')), testing::KilledBySignal(SIGABRT), "fatal: x+\n");
}

TEST(FatalDeathTest, HookRunsAfterTheSentence) {
  EXPECT_EXIT(
      {
        set_fatal_hook([]() noexcept { write_stderr("dump\n", 5); });
        fatal("first");
      },
      testing::KilledBySignal(SIGABRT), "vole: fatal: first\ndump\n");
}

TEST(FatalDeathTest, FatalInsideTheHookEndsAtOnce) {
  EXPECT_EXIT(
      {
        set_fatal_hook([]() noexcept { fatal("second"); });
        fatal("first");
      },
      testing::KilledBySignal(SIGABRT), "vole: fatal: first\nvole: fatal: second\n$");
}

note in_hook, other_called;

void die_on_two_threads() {
  set_fatal_hook([]() noexcept {
    in_hook.wake();
    other_called.sleep();
    write_stderr("dumped\n", 7);
  });
  std::thread other([] {
    in_hook.sleep();
    other_called.wake();
    fatal("other");
  });
  fatal("first");
}

TEST(FatalDeathTest, SecondThreadWaitsForTheFirst) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(die_on_two_threads(), testing::KilledBySignal(SIGABRT),
              "^vole: fatal: first\ndumped\n$");
}

}  // namespace
}  // namespace vole::base
