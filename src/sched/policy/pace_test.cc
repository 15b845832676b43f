// sysmon's pace, number by number.

#include "sched/policy/pace.h"

#include <gtest/gtest.h>

#include <vector>

namespace vole::rt::sysmon {
namespace {

using slices::finding;

struct Pace : testing::Test {
  std::int64_t delay = 200'000;  // as after a rest
  int quiet = 0;

  std::int64_t look(finding f) { return delay = next_delay(f, delay, quiet); }

  void expect_quiet_looks(int n, std::int64_t ns) {
    for (int i = 0; i < n; ++i) ASSERT_EQ(look(finding::nothing), ns) << i;
  }
  void expect_delays(const std::vector<std::int64_t>& all) {
    for (const std::int64_t ns : all) EXPECT_EQ(look(finding::nothing), ns);
  }
};

TEST_F(Pace, BeginsAt200MicrosecondsAfterARest) {  // [26]
  EXPECT_EQ(kFirst, 200'000);
  expect_quiet_looks(50, 200'000);
  expect_delays({400'000, 800'000, 1'000'000, 1'000'000});
}

TEST_F(Pace, TwentyMicrosecondsAfterATakenPAndTwiceAsLongAfterFiftyLooks) {  // [26]
  EXPECT_EQ(look(finding::taken), 20'000);
  expect_quiet_looks(50, 20'000);
  expect_delays({40'000, 80'000, 160'000, 320'000, 640'000, 1'000'000, 1'000'000});
  EXPECT_EQ(look(finding::taken), 20'000) << "news begin it all again";
  expect_quiet_looks(50, 20'000);
}

TEST_F(Pace, TwentyMicrosecondsWhileACallMayBlock) {  // [23] [26]
  EXPECT_EQ(look(finding::in_call), 20'000);
  expect_quiet_looks(50, 20'000);
  EXPECT_EQ(look(finding::in_call), 20'000);
  expect_quiet_looks(50, 20'000);
}

// It looks that often anyway, whatever it sees.
TEST_F(Pace, TheNetworkWaitsForOneMillisecond) {  // [28]
  EXPECT_EQ(kNetworkPollEvery, 1'000'000);
  EXPECT_LE(kLongest, kNetworkPollEvery);
}

TEST_F(Pace, ASuspicionIsNoNews) {
  expect_quiet_looks(50, 200'000);
  EXPECT_EQ(look(finding::suspicion), 200'000);
  EXPECT_EQ(look(finding::nothing), 400'000);
}

}  // namespace
}  // namespace vole::rt::sysmon
