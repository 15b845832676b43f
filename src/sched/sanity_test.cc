// What checked builds find out about the scheduler itself: each check is shown dying.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <chrono>

#include "base/lock_order.h"
#include "queue/local_queue.h"
#include "sched/life/enter.h"
#include "sched/work/find.h"
#include "sched/work/parking.h"
#include "sched/state.h"

namespace vole::rt {
namespace {

#ifdef VOLE_CHECKED

// Each in a child process, which starts a runtime of its own.
class SanityDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    vole::set_max_procs(1);
  }
};

void schedule_with_a_lock() {
  vole::run([] {
    lock_order::took(lock_rank::signals);  // the lowest rank: it forbids no other
    vole::sleep_for(std::chrono::milliseconds(1));
  });
}

TEST_F(SanityDeathTest, AnMThatHoldsALockMayNotSchedule) {
  EXPECT_DEATH(schedule_with_a_lock(), "loop: an M looks for work and holds a lock");
}

void spin_with_work() {
  vole::run([] {
    vole::go([] {});
    M* const m = enter();
    m->spinning = true;
    find_g0(*m);
  });
}

TEST_F(SanityDeathTest, AnMWithWorkOfItsOwnMayNotSpin) {
  EXPECT_DEATH(spin_with_work(), "find: an M spins that has work of its own");
}

TEST_F(SanityDeathTest, SpinningIsNeverNegative) {
  parking::state s;
  s.spinning.store(1, relaxed);
  parking::stop_spinning(s);
  EXPECT_DEATH(parking::stop_spinning(s), "parking: fewer than no threads spin");
}

TEST_F(SanityDeathTest, AThiefsRingMayNotOverflow) {
  basic_local_queue<4> thief, victim;
  runnable some[6];
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(thief.push_owner(&some[i]));
  for (int i = 4; i < 6; ++i) ASSERT_TRUE(victim.push_owner(&some[i]));
  EXPECT_DEATH(thief.steal_half_owner(victim), "queue: a thief's ring overflows");
}

void take_a_share_into_a_full_ring() {
  static G some[local_queue::kCapacity + 2];
  vole::run([] {
    M* const m = enter();
    for (std::uint32_t i = 0; i < local_queue::kCapacity; ++i) m->p->ring.push_owner(&some[i]);
    sched.lock.acquire();
    for (std::uint32_t i = 0; i < 2; ++i) sched.global.push_back_locked(&some[local_queue::kCapacity + i]);
    sched.lock.release();
    find_global(*m->p);
  });
}

TEST_F(SanityDeathTest, AShareOfTheGlobalQueueMayNotOverflowTheRing) {
  EXPECT_DEATH(take_a_share_into_a_full_ring(), "find: a share of the global queue overflows");
}

#endif

}  // namespace
}  // namespace vole::rt
