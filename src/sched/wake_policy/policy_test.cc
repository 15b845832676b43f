// The wake policy, event by event, with a clock of the test's own.

#include "sched/wake_policy/policy.h"

#include <gtest/gtest.h>

#include <memory>

#include "sched/wake_policy/contention.h"
#include "sched/wake_policy/state.h"

namespace vole::rt::wake_policy {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kStart = kSecond;

class WakePolicy : public testing::Test {
 protected:
  WakePolicy() { reset(); }
  ~WakePolicy() override { reset(); }

  // A thread is woken for p's work, and has nothing more to do after so long.
  void wake_that_lasts(std::int64_t ns) {
    m->p = helper.get();
    m->wakes.why = {probation::work, p.get()};
    m->wakes.called_at = kStart;
    assess_wake_up(*m, kStart + ns);
  }
  // m steals from p, and looks again after so long and so many switches.
  void theft_that_lasts(std::int64_t ns, std::uint64_t switches) {
    m->p = helper.get();
    stole(*m, *p);
    helper->switches.add_owner(switches);
    assess_theft(*m, m->wakes.stole_at + ns);
  }
  unsigned wasted() const { return p->wakes.wasted.load(relaxed); }

  const std::unique_ptr<P> p = std::make_unique<P>(), helper = std::make_unique<P>();
  const std::unique_ptr<M> m = std::make_unique<M>();
};

TEST_F(WakePolicy, FourWastedWakeUpsInARowEndThem) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(wakes_for(*p)) << i;
    EXPECT_FALSE(refuses_thieves(*p)) << i;
    wake_that_lasts(kWorthwhile - 1);
  }
  EXPECT_FALSE(wakes_for(*p));
  EXPECT_TRUE(refuses_thieves(*p));
  EXPECT_TRUE(wakes_for(*helper)) << "another P is not concerned";
}

// It came from the poller, and slept again before it was assessed: there is nobody to assess it for.
TEST_F(WakePolicy, AWakeUpForOneIsNotAssessed) {
  m->p = helper.get();
  comes_from_poller(*m);
  EXPECT_NE(m->wakes.called_at, 0);
  is_woken_for_one(*m);
  finds_nothing_g0(*m);
  comes_from_poller(*m);
  is_woken(*m, {probation::none, nullptr});
  finds_nothing_g0(*m);
  EXPECT_EQ(wasted(), 0u);
}

TEST_F(WakePolicy, AWakeUpThatWasWorthItForgivesThoseBefore) {
  for (int i = 0; i < 100; ++i) wake_that_lasts(0);
  EXPECT_EQ(wasted(), kMostWasted);
  wake_that_lasts(kWorthwhile);
  EXPECT_EQ(wasted(), 0u);
  EXPECT_TRUE(wakes_for(*p));
}

TEST_F(WakePolicy, AnInvitationLastsUntilAThiefCameOrTheWakeUpWasWasted) {
  for (int i = 0; i < 4; ++i) wake_that_lasts(0);
  p->wakes.invites.store(true, relaxed);
  EXPECT_FALSE(refuses_thieves(*p));
  theft_that_lasts(kSecond, 1);
  EXPECT_TRUE(refuses_thieves(*p));
  p->wakes.invites.store(true, relaxed);
  wake_that_lasts(0);
  EXPECT_TRUE(refuses_thieves(*p));
  p->wakes.invites.store(true, relaxed);
  rests(*p);
  EXPECT_TRUE(refuses_thieves(*p));
}

TEST_F(WakePolicy, AStolenGoroutineIsToRunForAQuarterMicrosecond) {
  theft_that_lasts(10 * kShortRun, 10);
  EXPECT_EQ(wasted(), 0u);
  theft_that_lasts(10 * kShortRun - 1, 10);
  EXPECT_EQ(wasted(), 1u);
  EXPECT_EQ(helper->wakes.wasted.load(relaxed), 0u);
  m->wakes.stole_p = nullptr;  // with another P since: nothing is known
  assess_theft(*m, m->wakes.stole_at);
  EXPECT_EQ(wasted(), 1u);
}

TEST_F(WakePolicy, ThreadsForTheNetworkPayWhileTheyRunThreeQuartersOfTheTime) {
  assess_polled(800'000, 1'000'000);
  EXPECT_TRUE(polled_pays());
  for (int i = 0; i < 100; ++i) assess_polled(500'000, 1'000'000);
  EXPECT_FALSE(polled_pays());
  EXPECT_EQ(of_network.wasted.load(relaxed), kMostPolledWasted);
  for (int i = 0; i < 100; ++i) assess_polled(1'000'000, 1'000'000);
  EXPECT_TRUE(polled_pays());
}

TEST_F(WakePolicy, OneLongRunIsNotForEver) {
  assess_polled(3600 * kSecond, 3600 * kSecond);
  for (int i = 0; i < 100; ++i) assess_polled(0, 1'000'000);
  EXPECT_FALSE(polled_pays());
}

TEST_F(WakePolicy, WhatIsThoughtOfTheNetworkIsTriedAgainEveryQuarterOfASecond) {
  of_network.wasted.store(2, relaxed);
  std::int64_t aged_at = kStart;
  age_assessments(aged_at, kStart + kAssessmentLasts - 1);
  EXPECT_EQ(of_network.wasted.load(relaxed), 2u);
  age_assessments(aged_at, kStart + kAssessmentLasts);
  age_assessments(aged_at, kStart + kAssessmentLasts + 1);
  EXPECT_EQ(of_network.wasted.load(relaxed), 1u);
  age_assessments(aged_at, kStart + 2 * kAssessmentLasts);
  EXPECT_TRUE(polled_pays());
}

TEST_F(WakePolicy, MeetingsCountWithinTheWindowOnly) {
  for (std::uint32_t i = 1; i < kTooMuch; ++i) EXPECT_FALSE(count_meeting(*m, kStart + i));
  EXPECT_FALSE(count_meeting(*m, kStart + 2 * kWindow)) << "a new window begins";
  for (std::uint32_t i = 2; i < kTooMuch; ++i)
    EXPECT_FALSE(count_meeting(*m, kStart + 2 * kWindow + i));
  EXPECT_TRUE(count_meeting(*m, kStart + 3 * kWindow));
  EXPECT_FALSE(count_meeting(*m, kStart + 3 * kWindow)) << "it is told once";
}

}  // namespace
}  // namespace vole::rt::wake_policy
