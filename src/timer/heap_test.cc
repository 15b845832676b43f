// The timer heap: order, removal from anywhere, dead slots, growth, sleepers; against std::multimap.

#include "timer/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <vector>

namespace vole::rt {
namespace {

timer* pop_timer(timer_heap& heap, std::int64_t now) {
  risen up;
  timer* const t = heap.pop_due(now, up);
  EXPECT_EQ(up.n, 0u);
  return t;
}

// The heap looks at no goroutine: any address will do.
G* sleeper(std::size_t i) { return reinterpret_cast<G*>((i + 1) * 256); }

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
  while (timer* t = pop_timer(heap, 2000)) {
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
  EXPECT_EQ(pop_timer(heap, 9), nullptr);
  EXPECT_EQ(pop_timer(heap, 10), &early);
  EXPECT_EQ(pop_timer(heap, 19), nullptr);
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
  while (timer* const t = pop_timer(heap, 1000)) {
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
  ASSERT_TRUE(heap.push_sleeper(sleeper(1), 77));
  std::size_t shown = 0, asleep = 0;
  heap.clear(
      [&](timer* t) {
        EXPECT_EQ(t->place, timer::kNowhere);
        ++shown;
      },
      [&](G* g, std::int64_t when) {
        EXPECT_EQ(g, sleeper(1));
        EXPECT_EQ(when, 77);
        ++asleep;
      });
  EXPECT_EQ(shown, 16u);
  EXPECT_EQ(asleep, 1u);
  EXPECT_TRUE(heap.empty());
}

TEST(TimerHeap, SleepersComeTogetherUntilATimer) {
  timer t;
  t.when = 3;
  timer_heap heap;
  for (const std::int64_t when : {5, 1, 4, 2}) {
    ASSERT_TRUE(heap.push_sleeper(sleeper(static_cast<std::size_t>(when)), when));
  }
  ASSERT_TRUE(heap.push(&t));
  ASSERT_TRUE(heap.is_valid());
  risen up;
  EXPECT_EQ(heap.pop_due(4, up), &t);
  ASSERT_EQ(up.n, 2u);
  EXPECT_EQ(up.g[0], sleeper(1));
  EXPECT_EQ(up.g[1], sleeper(2));
  EXPECT_EQ(heap.pop_due(4, up), nullptr);
  ASSERT_EQ(up.n, 1u);
  EXPECT_EQ(up.g[0], sleeper(4));
  EXPECT_EQ(heap.pop_due(4, up), nullptr);
  EXPECT_EQ(up.n, 0u);
  EXPECT_EQ(heap.first_when(), 5);
  EXPECT_EQ(heap.size(), 1u);
  heap.clear();
}

// Of whom every third is a timer, and every second of these is stopped.
TEST(TimerHeap, SleepersAndTimersComeInOrder) {
  constexpr std::size_t kAll = 3000;
  std::mt19937 random(5);
  std::vector<timer> timers(kAll);
  std::vector<std::int64_t> when(kAll);
  timer_heap heap;
  for (std::size_t i = 0; i < kAll; ++i) {
    when[i] = timers[i].when = static_cast<std::int64_t>(random() % 1000);
    ASSERT_TRUE(i % 3 == 0 ? heap.push(&timers[i]) : heap.push_sleeper(sleeper(i), when[i]));
  }
  for (std::size_t i = 0; i < kAll; i += 6) heap.remove(&timers[i]);
  ASSERT_TRUE(heap.is_valid());
  std::int64_t last = 0;
  std::size_t popped = 0;
  const auto came = [&](std::int64_t at) {
    EXPECT_GE(at, last);
    last = at;
    ++popped;
  };
  risen up;
  do {
    timer* const t = heap.pop_due(1000, up);
    for (std::size_t i = 0; i < up.n; ++i)
      came(when[reinterpret_cast<std::uintptr_t>(up.g[i]) / 256 - 1]);
    if (t != nullptr) came(t->when);
    ASSERT_TRUE(heap.is_valid());
  } while (!heap.empty());
  EXPECT_EQ(popped, kAll - kAll / 6);
  heap.clear();
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
    timer* const t = pop_timer(heap_, now);
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
