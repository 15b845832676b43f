// The next tick: in step, never twice, never past the end of time.

#include "time/next_tick.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace vole::detail {
namespace {

constexpr std::int64_t kHour = 3'600'000'000'000;

TEST(NextTick, OnTimeIsOnePeriodOn) {
  EXPECT_EQ(next_tick(100, 10, 100), 110);
  EXPECT_EQ(next_tick(100, 10, 109), 110);
}

TEST(NextTick, ExactlyOnePeriodLateSkipsTheOneThatIsDueNow) {
  EXPECT_EQ(next_tick(100, 10, 110), 120);
}

TEST(NextTick, AfterANightsSuspendItIsOneStepAndInPhase) {
  EXPECT_EQ(next_tick(1'000'003, 1'000'000, 1'000'003 + 9 * kHour + 5),
            1'000'003 + 9 * kHour + 1'000'000);
}

TEST(NextTick, AClockBeforeTheDueTimeCountsAsOnTime) { EXPECT_EQ(next_tick(100, 10, 40), 110); }

TEST(NextTick, BeyondTheEndOfTimeIsNever) {
  EXPECT_EQ(next_tick(INT64_MAX - 5, 10, INT64_MAX - 1), INT64_MAX);
  EXPECT_EQ(next_tick(kHour, INT64_MAX, kHour), INT64_MAX);
  EXPECT_EQ(next_tick(kHour, INT64_MAX - kHour, kHour), INT64_MAX);
}

TEST(NextTick, IsLaterThanNowByAtMostAPeriod) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100'000; ++i) {
    const auto due = static_cast<std::int64_t>(random() % (1ull << 50));
    const auto period = static_cast<std::int64_t>(random() % (1ull << (random() % 50)) + 1);
    const auto now = due + static_cast<std::int64_t>(random() % (1ull << 50));
    const std::int64_t next = next_tick(due, period, now);
    ASSERT_GT(next, now);
    ASSERT_LE(next, now + period);
    ASSERT_EQ((next - due) % period, 0);
  }
}

}  // namespace
}  // namespace vole::detail
