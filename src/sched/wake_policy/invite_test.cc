// For whom sysmon calls a thief, and when: look by look, with a clock of the test's own.

#include "sched/wake_policy/invite.h"

#include <gtest/gtest.h>

namespace vole::rt::wake_policy {
namespace {

using sysmon::kLongest, sysmon::kSecond;

constexpr std::int64_t kMost = kLongest;  // between two looks, while a P is busy
constexpr unsigned kVeryManyWasted = kManyWasted + 8;

// One P beside an idle one. Times are microseconds from the start.
class Invite : public testing::Test {
 protected:
  // True: a thief was called.
  bool look_at_us(std::int64_t us) {
    const std::int64_t now = kStart + us * kMicro;
    const opinion o = decide(p, last, 2 * kMilli, now);
    const bool called = o.overdue || (o.stands && (p.stealable || o.defers));
    last = called ? after_call(p, now) : o.seen;
    return called;
  }
  // It has made a switch since the last look.
  bool look_after_a_switch_at_us(std::int64_t us) {
    ++p.switches;
    return look_at_us(us);
  }
  // Looks every so often at a P that goes on switching, from `from` on: when a thief is called.
  std::int64_t us_until_called(std::int64_t from, std::int64_t pace) {
    for (std::int64_t us = from; us < from + 1'000'000; us += pace)
      if (look_after_a_switch_at_us(us)) return us - from;
    return -1;
  }

  p_view p{nullptr, 1, 0, 0, 0, false, false};
  p_history last{};
  runnable one, other;

 private:
  static constexpr std::int64_t kStart = 1'000 * kSecond;
};

// ── newborns ──

// However often wake-ups for this P were wasted, the first look that sees the fork calls a thief, and
// looks are a millisecond apart at most.
TEST_F(Invite, AForkIsCalledForAtTheNextLook) {  // [13]
  EXPECT_EQ(kMost, kMilli);
  for (const unsigned wasted : {kManyWasted + 0u, kManyWasted + 1u, kVeryManyWasted}) {
    last = {};
    p.wasted = wasted;
    p.stealable = false;
    EXPECT_FALSE(look_after_a_switch_at_us(0));
    p.stealable = true;
    p.spawned += 100;
    EXPECT_TRUE(look_after_a_switch_at_us(1000)) << wasted;
  }
}

// One thief after the other, but not more often than every 0.4 ms: a P that forks all the time.
TEST_F(Invite, ForksOneAfterTheOtherEvery400Microseconds) {  // [13]
  p.wasted = kVeryManyWasted;
  p.stealable = true;
  int calls = 0;
  for (std::int64_t us = 1000; us < 101'000; us += 20) {
    ++p.spawned;
    calls += look_after_a_switch_at_us(us) ? 1 : 0;
  }
  EXPECT_EQ(calls, 250);
}

// Seen at a look when no P was idle, or none of it was left to steal: it is remembered, or not.
TEST_F(Invite, AForkIsRememberedWhileNoPIsIdle) {  // [13]
  p.wasted = kVeryManyWasted;
  ++p.spawned;
  last = passed_over(last, p.spawned);
  last = passed_over(last, p.spawned);
  p.stealable = true;
  EXPECT_TRUE(look_after_a_switch_at_us(1000));
}

TEST_F(Invite, AForkThatHasBeenRunIsForgotten) {
  p.wasted = kVeryManyWasted;
  ++p.spawned;
  EXPECT_FALSE(look_after_a_switch_at_us(1000)) << "nothing there to steal";
  p.stealable = true;
  EXPECT_FALSE(look_after_a_switch_at_us(2000)) << "this was readied";
}

// A goroutine that starts others calls a thief itself, unless wake-ups for its P are wasted: then they
// wait for 0.4 ms.
TEST_F(Invite, AForkThatCalledItselfWaitsLikeOthers) {
  p.stealable = true;
  ++p.spawned;
  EXPECT_EQ(us_until_called(0, 20), 400);
}

// ── what was readied ──

TEST_F(Invite, ReadiedWorkWaitsForLongerAfterWakeUpsInVain) {  // [13]
  p.stealable = true;
  const std::int64_t expected[] = {400, 400, 400, 400, 400, 1600, 3200, 6400, 12'800, 12'800};
  for (unsigned wasted = 0; wasted < std::size(expected); ++wasted) {
    last = {};
    p.wasted = wasted;
    EXPECT_EQ(us_until_called(0, 20), expected[wasted]) << wasted;
  }
}

// At sysmon's slowest pace, with all that the P has shown: the bound that design/0010 gives.
TEST_F(Invite, ReadiedWorkWaitsFor13MillisecondsAtMost) {  // [13]
  p.stealable = true;
  p.wasted = kVeryManyWasted;
  const std::int64_t us = us_until_called(0, 1000);
  EXPECT_EQ(us, 13'000);
  EXPECT_EQ(us_until_called(20'000, 1000), us) << "and the next likewise";
}

// A ring that is empty at some looks is in use: the time is counted from the first.
TEST_F(Invite, ARingThatIsEmptyNowAndThenIsInUse) {
  for (std::int64_t us = 0; us < 400; us += 20) {
    p.stealable = us % 40 == 0;
    EXPECT_FALSE(look_after_a_switch_at_us(us)) << us;
  }
  p.stealable = true;
  EXPECT_TRUE(look_after_a_switch_at_us(400));
}

// ── a P that stands ──

TEST_F(Invite, WhatLiesBehindOneThatRunsOnWaits150Microseconds) {  // [27]
  p.stealable = true;
  p.wasted = kVeryManyWasted;
  EXPECT_FALSE(look_after_a_switch_at_us(0));
  EXPECT_FALSE(look_at_us(149));
  EXPECT_TRUE(look_at_us(150));
}

TEST_F(Invite, WhatIsOwedByOneThatRunsOnToo) {
  p.ready_next = &one;
  EXPECT_FALSE(look_after_a_switch_at_us(0));
  EXPECT_FALSE(look_at_us(149));
  p.ready_next = &other;
  EXPECT_FALSE(look_at_us(150)) << "another one: it is on its way";
  EXPECT_TRUE(look_at_us(151));
}

TEST_F(Invite, NobodyIsCalledForNothing) {
  EXPECT_EQ(us_until_called(0, 1000), -1);
  EXPECT_FALSE(look_at_us(2'000'000)) << "it stands, and nobody waits";
}

// ── what the poller brought ──

TEST_F(Invite, WhatThePollerBroughtWaitsForItsOwnPatience) {
  p.stealable = p.has_batch = true;
  EXPECT_EQ(us_until_called(0, 100), 2000);
}

TEST_F(Invite, WhoRestsBetweenBatchesKeepsUp) {
  p.stealable = p.has_batch = true;
  for (std::int64_t us = 0; us < 100'000; us += 1000) {
    ++p.rests;
    EXPECT_FALSE(look_after_a_switch_at_us(us)) << us;
  }
}

}  // namespace
}  // namespace vole::rt::wake_policy
