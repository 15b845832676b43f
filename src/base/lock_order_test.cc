// Lock ranks: taken in growing order, or the program ends with both ranks named.

#include "base/lock_order.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/lock.h"

namespace vole::base {
namespace {

// Only checked builds remember which locks a thread holds; in the others these functions are
// empty, and there is nothing to test.
#ifdef VOLE_CHECKED

using low = lock<lock_rank::object>;
using high = lock<lock_rank::depot>;

TEST(LockOrder, GrowingRanksAreFine) {
  low a;
  high b;
  a.acquire();
  b.acquire();
  EXPECT_TRUE(lock_order::holds_any());
  b.release();
  a.release();
  EXPECT_FALSE(lock_order::holds_any());
}

TEST(LockOrder, ReleasesMayComeInAnyOrder) {
  low a;
  lock<lock_rank::sched> b;
  high c;
  a.acquire();
  b.acquire();
  a.release();
  c.acquire();
  b.release();
  c.release();
  EXPECT_FALSE(lock_order::holds_any());
}

TEST(LockOrder, IsPerThread) {
  high b;
  b.acquire();
  std::thread([] {
    low a;
    EXPECT_FALSE(lock_order::holds_any());
    const holding hold(a);
  }).join();
  b.release();
}

TEST(LockOrder, NextOfKindMayFollowItsEqual) {
  high a, b;
  a.acquire();
  b.acquire_next_of_kind();
  b.release();
  a.release();
}

TEST(LockOrder, TryAcquireCountsButNeverBlocks) {
  low a;
  high b;
  b.acquire();
  EXPECT_TRUE(a.try_acquire());  // cannot deadlock: no order to keep
  a.release();
  b.release();
  EXPECT_FALSE(lock_order::holds_any());
}

void invert() {
  high b;
  low a;
  b.acquire();
  a.acquire();
}
void take_two_of_a_kind() {
  low a, b;
  a.acquire();
  b.acquire();
}
void release_what_is_not_held() {
  low a;
  a.release();
}

TEST(LockOrderDeathTest, InversionAborts) {
  EXPECT_DEATH(invert(), "lock: rank 30 taken while holding rank 70");
}
TEST(LockOrderDeathTest, TwoOfAKindAborts) {
  EXPECT_DEATH(take_two_of_a_kind(), "lock: rank 30 taken while holding rank 30");
}
TEST(LockOrderDeathTest, ReleaseWithoutHoldingAborts) {
  EXPECT_DEATH(release_what_is_not_held(), "lock: rank 30 released but not held");
}

#else

TEST(LockOrder, CostsNothingInUncheckedBuilds) { EXPECT_FALSE(lock_order::holds_any()); }

#endif

}  // namespace
}  // namespace vole::base
