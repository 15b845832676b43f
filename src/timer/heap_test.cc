// The timer heap: order, removal from anywhere, dead slots, growth; against std::multimap.

#include "timer/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
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

TEST(TimerHeap, AStoppedTimerIsFreeAtOnceAndItsSlotKeepsTheRank) {
  std::vector<timer> timers(100);
  timer_heap heap;
  for (std::size_t i = 0; i < timers.size(); ++i) {
    timers[i].when = static_cast<std::int64_t>(i);
    ASSERT_TRUE(heap.push(&timers[i]));
  }
  for (std::size_t i = 50; i < 70; ++i) {  // fewer than a quarter: no sweep
    heap.remove(&timers[i]);
    EXPECT_EQ(timers[i].place, timer::kNowhere);
    timers[i].when = -1;  // the record is its owner's again
    ASSERT_TRUE(heap.is_valid());
  }
  EXPECT_EQ(heap.size(), 80u);
  std::size_t popped = 0;
  while (timer* const t = heap.pop_due(1000)) {
    EXPECT_NE(t->when, -1);
    ++popped;
    ASSERT_TRUE(heap.is_valid());
  }
  EXPECT_EQ(popped, 80u);
  EXPECT_TRUE(heap.empty()) << "dead slots went with them";
  heap.clear();
}

TEST(TimerHeap, TheFirstOneStoppedUncoversTheNextLiving) {
  std::vector<timer> timers(40);
  timer_heap heap;
  for (std::size_t i = 0; i < timers.size(); ++i) {
    timers[i].when = static_cast<std::int64_t>(i);
    ASSERT_TRUE(heap.push(&timers[i]));
  }
  for (std::size_t i : {1u, 2u, 3u}) heap.remove(&timers[i]);
  EXPECT_EQ(heap.first_when(), 0);
  heap.remove(&timers[0]);
  EXPECT_EQ(heap.first_when(), 4) << "a dead slot must not be what a sleeper waits for";
  heap.clear();
}

TEST(TimerHeap, AQuarterOfStopsIsSwept) {
  std::vector<timer> timers(1000);
  timer_heap heap;
  for (timer& t : timers) {
    t.when = 1;
    ASSERT_TRUE(heap.push(&t));
  }
  for (std::size_t i = timers.size(); i-- > 0;) {
    heap.remove(&timers[i]);
    ASSERT_EQ(heap.size(), i);
    ASSERT_TRUE(heap.is_valid());
  }
  EXPECT_TRUE(heap.empty());
  heap.clear();
}

TEST(TimerHeap, ClearShowsTheLivingOnly) {
  std::vector<timer> timers(20);
  timer_heap heap;
  for (timer& t : timers) ASSERT_TRUE(heap.push(&t));
  for (std::size_t i = 3; i < 7; ++i) heap.remove(&timers[i]);
  std::size_t shown = 0;
  heap.clear([&](timer* t) {
    EXPECT_EQ(t->place, timer::kNowhere);
    ++shown;
  });
  EXPECT_EQ(shown, 16u);
  EXPECT_TRUE(heap.empty());
}

// Whatever is done, the same is done to a multimap.
class against_map {
 public:
  explicit against_map(std::uint64_t seed) : random_(seed), timers_(3000) {}
  ~against_map() { heap_.clear(); }

  void step(unsigned stops) {  // of 10
    timer& t = timers_[random_() % timers_.size()];
    if (t.place == timer::kNowhere) {
      t.when = static_cast<std::int64_t>(random_() % 500);
      ASSERT_TRUE(heap_.push(&t));
      map_.emplace(t.when, &t);
    } else if (random_() % 10 < stops) {
      forget(&t, t.when);
      heap_.remove(&t);
    } else {
      fire(static_cast<std::int64_t>(random_() % 500));
    }
    ASSERT_EQ(heap_.size(), map_.size());
    ASSERT_EQ(heap_.empty(), map_.empty());
    if (!map_.empty()) {
      ASSERT_EQ(heap_.first_when(), map_.begin()->first);
    }
  }
  void check() const { ASSERT_TRUE(heap_.is_valid()); }

 private:
  void fire(std::int64_t now) {
    timer* const t = heap_.pop_due(now);
    if (map_.empty() || map_.begin()->first > now) {
      ASSERT_EQ(t, nullptr);
      return;
    }
    ASSERT_NE(t, nullptr);
    ASSERT_EQ(t->when, map_.begin()->first);
    forget(t, t->when);
  }
  void forget(timer* t, std::int64_t when) {
    auto [it, end] = map_.equal_range(when);
    it = std::find_if(it, end, [t](const auto& e) { return e.second == t; });
    ASSERT_NE(it, end) << "fired twice, or never added";
    map_.erase(it);
  }

  std::mt19937_64 random_;
  std::vector<timer> timers_;
  timer_heap heap_;
  std::multimap<std::int64_t, timer*> map_;
};

TEST(TimerHeap, DoesWhatAMultimapDoes) {
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  for (unsigned stops : {0u, 2u, 5u, 8u, 10u}) {
    against_map both(seed + stops);
    for (int i = 0; i < 20'000 && !HasFatalFailure(); ++i) {
      both.step(stops);
      if (i % 200 == 0) both.check();
    }
  }
}

}  // namespace
}  // namespace vole::rt
