// The timer heap: order, removal from anywhere, growth.

#include "timer/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace vole::rt {
namespace {

TEST(TimerHeap, PopsInOrderOfWhen) {
  std::mt19937 random(7);
  std::vector<timer> timers(5000);
  timer_heap heap;
  for (timer& t : timers) {
    t.when = static_cast<std::int64_t>(random() % 1000);
    ASSERT_TRUE(heap.push(&t));
  }
  ASSERT_TRUE(heap.is_valid());
  std::int64_t last = -1;
  while (timer* t = heap.pop_due(2000)) {
    EXPECT_GE(t->when, last);
    EXPECT_EQ(t->place, timer::kNowhere);
    last = t->when;
  }
  EXPECT_TRUE(heap.empty());
  heap.clear();
}

TEST(TimerHeap, OnlyDueOnesArePopped) {
  timer early, late;
  early.when = 10;
  late.when = 20;
  timer_heap heap;
  ASSERT_TRUE(heap.push(&late) && heap.push(&early));
  EXPECT_EQ(heap.first_when(), 10);
  EXPECT_EQ(heap.pop_due(9), nullptr);
  EXPECT_EQ(heap.pop_due(10), &early);
  EXPECT_EQ(heap.pop_due(19), nullptr);
  heap.remove(&late);
  EXPECT_TRUE(heap.empty());
  heap.clear();
}

TEST(TimerHeap, RemovalFromAnywhereKeepsTheOrder) {
  std::mt19937 random(11);
  std::vector<timer> timers(600);
  timer_heap heap;
  for (int round = 0; round < 20000; ++round) {
    timer& t = timers[random() % timers.size()];
    if (t.place == timer::kNowhere) {
      t.when = static_cast<std::int64_t>(random() % 100);
      ASSERT_TRUE(heap.push(&t));
    } else {
      heap.remove(&t);
    }
    if (round % 500 == 0) {
      ASSERT_TRUE(heap.is_valid());
    }
  }
  ASSERT_TRUE(heap.is_valid());
  heap.clear();
}

}  // namespace
}  // namespace vole::rt
