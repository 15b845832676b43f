// A timer_set: what its hint says, and stop against fire, from other threads and from the function.
//
// Note   the firing loop is that of sched/wait/p_timers.cc without a scheduler around it.

#include "timer/timer_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <random>
#include <thread>
#include <vector>

namespace vole::rt {
namespace {

void rest() noexcept { std::this_thread::yield(); }

std::size_t fire_all(timer_set& s, std::int64_t now) {
  if (s.first() > now || !s.begin_firing()) return 0;
  std::size_t n = 0;
  for (risen up;;) {
    timer* const t = s.take_due(now, up);
    n += up.n;
    if (t != nullptr) {
      ++n;
      t->fire(t, nullptr);
      s.fired();
    } else if (up.n == 0) {
      break;
    }
  }
  s.end_firing();
  return n;
}

void nothing(timer*, M*) noexcept {}

// A timer_set looks at no goroutine: any address will do.
G* sleeper(std::size_t i) { return reinterpret_cast<G*>((i + 1) * 256); }

TEST(Shelf, FirstFollowsWhatIsAddedStoppedAndFired) {
  timer_set s;
  timer a, b;
  a.fire = b.fire = &nothing;
  EXPECT_EQ(s.first(), kNoTimer);
  EXPECT_EQ(s.add(&b, 20), timer_set::added::in_front);
  EXPECT_EQ(s.add(&a, 10), timer_set::added::in_front);
  EXPECT_EQ(s.first(), 10);
  EXPECT_TRUE(timer_set::stop(&a, &rest));
  EXPECT_EQ(s.first(), 20);
  EXPECT_FALSE(timer_set::stop(&a, &rest)) << "stopped already";
  EXPECT_EQ(s.add(&a, 30), timer_set::added::behind);
  EXPECT_EQ(s.pending(), 2u);
  EXPECT_EQ(fire_all(s, 25), 1u);
  EXPECT_FALSE(timer_set::stop(&b, &rest)) << "fired";
  EXPECT_EQ(s.first(), 30);
  EXPECT_EQ(fire_all(s, 30), 1u);
  EXPECT_EQ(s.first(), kNoTimer);
  s.clear([](timer*) { ADD_FAILURE(); });
}

TEST(Shelf, NeverIsPendingAndNotWaitedFor) {
  timer_set s;
  timer never;
  EXPECT_EQ(s.add(&never, kNoTimer), timer_set::added::behind);
  EXPECT_EQ(s.first(), kNoTimer);
  EXPECT_EQ(s.pending(), 1u);
  EXPECT_TRUE(timer_set::stop(&never, &rest));
  EXPECT_EQ(s.pending(), 0u);
  s.clear([](timer*) {});
}

TEST(Shelf, SleepersArePendingUntilTheNextAreTaken) {
  constexpr std::size_t kAll = risen::kMost + 3;
  timer_set s;
  for (std::size_t i = 0; i < kAll; ++i) {
    const auto when = static_cast<std::int64_t>(kAll - i);
    EXPECT_EQ(s.add_sleeper(sleeper(i), when), timer_set::added::in_front);
  }
  EXPECT_EQ(s.first(), 1);
  ASSERT_TRUE(s.begin_firing());
  risen up;
  EXPECT_EQ(s.take_due(1000, up), nullptr);
  EXPECT_EQ(up.n, risen::kMost);
  EXPECT_EQ(s.pending(), kAll) << "taken, but perhaps not yet runnable";
  EXPECT_EQ(s.take_due(1000, up), nullptr);
  EXPECT_EQ(up.n, kAll - risen::kMost);
  EXPECT_EQ(s.first(), kNoTimer);
  EXPECT_EQ(s.take_due(1000, up), nullptr);
  EXPECT_EQ(up.n, 0u);
  EXPECT_EQ(s.pending(), 0u);
  s.end_firing();
  s.clear([](timer*) {});
}

TEST(Shelf, OneThatWasNeverAddedIsNotPending) {
  timer t;
  EXPECT_FALSE(timer_set::stop(&t, &rest));
}

TEST(Shelf, TheOnlyOneIsNotPendingOnceItHasFired) {
  timer_set s;
  timer only;
  only.fire = &nothing;
  for (const std::int64_t when : {10, 20}) {
    EXPECT_EQ(s.add(&only, when), timer_set::added::in_front);
    EXPECT_EQ(fire_all(s, when), 1u);
    EXPECT_FALSE(timer_set::stop(&only, &rest));
    EXPECT_EQ(s.first(), kNoTimer);
    EXPECT_EQ(s.pending(), 0u);
  }
}

TEST(Shelf, OnlyOneFires) {
  timer_set s;
  ASSERT_TRUE(s.begin_firing());
  EXPECT_FALSE(s.begin_firing());
  s.end_firing();
  EXPECT_TRUE(s.begin_firing());
  s.end_firing();
}

TEST(Shelf, AFunctionMayAddItsTimerAgain) {
  timer_set s;
  timer t;
  t.fire = [](timer* self, M*) noexcept { timer_set::add_again(self, self->when + 10); };
  s.add(&t, 10);
  EXPECT_EQ(fire_all(s, 15), 1u);
  EXPECT_EQ(s.first(), 20);
  EXPECT_EQ(fire_all(s, 49), 3u) << "20, 30, 40";
  EXPECT_TRUE(timer_set::stop(&t, &rest));
  s.clear([](timer*) {});
}

TEST(Shelf, AnHeirTakesOver) {  // [33]
  timer_set dead, heir;
  std::vector<timer> timers(500);
  for (std::size_t i = 0; i < timers.size(); ++i) {
    timers[i].fire = &nothing;
    (i % 2 == 0 ? dead : heir).add(&timers[i], static_cast<std::int64_t>(1000 - i));
  }
  dead.add_sleeper(sleeper(0), 1500);
  ASSERT_TRUE(timer_set::stop(&timers[100], &rest));
  ASSERT_TRUE(heir.adopt(dead));
  EXPECT_EQ(dead.first(), kNoTimer);
  EXPECT_EQ(dead.pending(), 0u);
  EXPECT_EQ(heir.first(), 501);
  EXPECT_TRUE(timer_set::stop(&timers[200], &rest)) << "found on its new timer_set";
  EXPECT_EQ(fire_all(heir, 2000), 499u);
  heir.clear([](timer*) {});
  dead.clear([](timer*) {});
}

TEST(Shelf, AfterTheEndATimerStartsOnAnyShelf) {
  timer_set one, other;
  timer t;
  one.add(&t, 5);
  std::size_t shown = 0;
  one.clear([&](timer*) { ++shown; });
  EXPECT_EQ(shown, 1u);
  EXPECT_EQ(one.first(), kNoTimer);
  EXPECT_FALSE(timer_set::stop(&t, &rest));
  EXPECT_EQ(other.add(&t, 6), timer_set::added::in_front);
  EXPECT_TRUE(timer_set::stop(&t, &rest));
  other.clear([](timer*) {});
}

// Three timer_sets, each fired by a thread of its own and by a thief; owners start and stop timers on
// any timer_set. After stop has returned the record is its owner's alone: the count in it is no atomic,
// and a sanitizer watches.
struct counted : timer {
  std::uint64_t fired = 0;  // by the function; by the owner while not pending
  std::int64_t again = 0;   // > 0: it adds itself again
};

void count(timer* t, M*) noexcept {
  auto* const c = static_cast<counted*>(t);
  ++c->fired;
  if (c->again > 0) timer_set::add_again(t, t->when + c->again);
}

constexpr std::size_t kTimerSets = 3;

std::int64_t clock_now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void own_timers(timer_set* timer_sets, std::uint64_t seed, const std::atomic<bool>& over) {
  std::mt19937_64 random(seed);
  std::vector<counted> mine(8);
  std::vector<std::uint64_t> pending(mine.size(), 0);  // starts that were neither stopped nor fired
  for (counted& c : mine) c.fire = &count;
  const auto stop = [&](std::size_t i) {
    counted& c = mine[i];
    const bool was_pending = timer_set::stop(&c, &rest);
    if (c.again == 0) {
      EXPECT_EQ(c.fired + (was_pending ? 1u : 0u), pending[i]) << "fired or stopped: once";
    } else {
      EXPECT_EQ(was_pending, pending[i] != 0) << "one that adds itself again is always pending";
    }
    c.fired = pending[i] = 0;
  };
  while (!over.load()) {
    const std::size_t i = random() % mine.size();
    stop(i);
    mine[i].again = random() % 2 == 0 ? static_cast<std::int64_t>(1 + random() % 3000) : 0;
    pending[i] = 1;
    timer_sets[random() % kTimerSets].add(&mine[i],
                                     clock_now() + static_cast<std::int64_t>(random() % 20'000));
    if (random() % 4 == 0) rest();
  }
  for (std::size_t i = 0; i < mine.size(); ++i) stop(i);
}

TEST(Shelf, StopAgainstFire) {
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  static timer_set timer_sets[kTimerSets];
  std::atomic<bool> over{false}, idle{false};
  std::vector<std::thread> owners, firing;
  for (std::uint64_t i = 0; i < 2; ++i)
    owners.emplace_back([&, i] { own_timers(timer_sets, seed + i, over); });
  for (int i = 0; i < 2; ++i)
    firing.emplace_back([&] {
      while (!idle.load())
        for (timer_set& s : timer_sets) fire_all(s, clock_now());
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  over = true;
  for (std::thread& t : owners) t.join();
  idle = true;
  for (std::thread& t : firing) t.join();
  for (timer_set& s : timer_sets) {
    EXPECT_EQ(s.pending(), 0u);
    s.clear([](timer*) { ADD_FAILURE(); });
  }
}

}  // namespace
}  // namespace vole::rt
