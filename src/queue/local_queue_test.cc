// The ring on its own: order, wrap-around, spilling, and stealing with real threads.
// The exhaustive proof is tests/model/local_queue_model.cc; this is the same text on
// real processors.

#include "queue/local_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

namespace vole::rt {
namespace {

struct item : runnable {
  std::size_t number = 0;
  atomic<int> seen{0};
};

std::vector<item> make_items(std::size_t n) {
  std::vector<item> items(n);
  for (std::size_t i = 0; i < n; ++i) items[i].number = i;
  return items;
}

std::size_t number_of(runnable* r) { return static_cast<item*>(r)->number; }

TEST(LocalQueue, GivesBackInOrder) {  // [4]
  local_queue q;
  std::vector<item> items = make_items(local_queue::kCapacity);
  for (item& i : items) ASSERT_TRUE(q.push_owner(&i));
  EXPECT_EQ(q.size(), 256u);
  for (std::size_t i = 0; i < items.size(); ++i) EXPECT_EQ(number_of(q.pop_owner()), i);
  EXPECT_EQ(q.pop_owner(), nullptr);
  EXPECT_EQ(q.size(), 0u);
}

TEST(LocalQueue, RefusesWhenFull) {
  local_queue q;
  std::vector<item> items = make_items(local_queue::kCapacity + 1);
  for (std::size_t i = 0; i < local_queue::kCapacity; ++i) ASSERT_TRUE(q.push_owner(&items[i]));
  EXPECT_FALSE(q.push_owner(&items.back()));
  EXPECT_EQ(number_of(q.pop_owner()), 0u);
  EXPECT_TRUE(q.push_owner(&items.back()));
}

TEST(LocalQueue, KeepsOrderAcrossManyWrapArounds) {
  local_queue q;
  std::vector<item> items = make_items(200);
  std::size_t in = 0, out = 0;
  while (out < 200 * 50) {
    for (int i = 0; i < 37 && q.size() < 200; ++i) ASSERT_TRUE(q.push_owner(&items[in++ % 200]));
    for (int i = 0; i < 29; ++i) {
      runnable* const r = q.pop_owner();
      if (r == nullptr) break;
      ASSERT_EQ(number_of(r), out++ % 200);
    }
  }
}

TEST(LocalQueue, SpillsTheOldestHalfInOrder) {  // [6]
  local_queue q;
  std::vector<item> items = make_items(local_queue::kCapacity);
  for (item& i : items) q.push_owner(&i);
  runnable* half[local_queue::kHalf];
  ASSERT_TRUE(q.spill_half_owner(half));
  for (std::size_t i = 0; i < local_queue::kHalf; ++i) EXPECT_EQ(number_of(half[i]), i);
  EXPECT_EQ(q.size(), local_queue::kHalf);
  EXPECT_EQ(number_of(q.pop_owner()), local_queue::kHalf);
}

TEST(LocalQueue, SpillsNothingUnlessFull) {
  local_queue q;
  std::vector<item> items = make_items(local_queue::kCapacity - 1);
  for (item& i : items) q.push_owner(&i);
  runnable* half[local_queue::kHalf];
  EXPECT_FALSE(q.spill_half_owner(half));
  EXPECT_EQ(q.size(), local_queue::kCapacity - 1);
}

TEST(LocalQueue, StealOfOneTwoAndThree) {  // [15]: n - n/2
  for (const auto& [n, taken] : {std::pair{1u, 1u}, {2u, 1u}, {3u, 2u}}) {
    local_queue victim, thief;
    std::vector<item> items = make_items(n);
    for (item& i : items) ASSERT_TRUE(victim.push_owner(&i));
    EXPECT_EQ(number_of(thief.steal_half_owner(victim)), taken - 1) << "the last of them is run";
    EXPECT_EQ(victim.size(), n - taken);
    EXPECT_EQ(thief.size(), taken - 1);
  }
}

TEST(LocalQueue, StealTakesTheOlderHalfRoundedUp) {  // [15]
  for (std::size_t n = 0; n <= local_queue::kCapacity; ++n) {
    local_queue victim, thief;
    std::vector<item> items = make_items(n);
    for (item& i : items) ASSERT_TRUE(victim.push_owner(&i));
    const std::size_t share = n - n / 2;
    runnable* const run_now = thief.steal_half_owner(victim);
    if (n == 0) {
      EXPECT_EQ(run_now, nullptr);
      continue;
    }
    ASSERT_NE(run_now, nullptr) << n;
    EXPECT_EQ(number_of(run_now), share - 1) << "the last of the batch is run at once";
    for (std::size_t i = 0; i + 1 < share; ++i) ASSERT_EQ(number_of(thief.pop_owner()), i);
    EXPECT_EQ(thief.pop_owner(), nullptr);
    for (std::size_t i = share; i < n; ++i) ASSERT_EQ(number_of(victim.pop_owner()), i);
    EXPECT_EQ(victim.pop_owner(), nullptr);
  }
}

TEST(LocalQueue, StealWorksAcrossTheWrapOfBothRings) {
  local_queue victim, thief;
  std::vector<item> items = make_items(250);
  item filler;
  for (int i = 0; i < 200; ++i) victim.push_owner(&filler), victim.pop_owner();
  for (int i = 0; i < 230; ++i) thief.push_owner(&filler), thief.pop_owner();
  for (item& i : items) victim.push_owner(&i);
  EXPECT_EQ(number_of(thief.steal_half_owner(victim)), 124u);
  for (std::size_t i = 0; i < 124; ++i) ASSERT_EQ(number_of(thief.pop_owner()), i);
}

TEST(LocalQueue, GivesBackTheNewestWhileTheyAreMarked) {
  local_queue q;
  std::vector<item> items = make_items(7);
  ASSERT_TRUE(q.push_owner(&items[0]));
  for (std::size_t i = 1; i < 4; ++i) ASSERT_TRUE(q.push_newest_owner(&items[i]));
  EXPECT_EQ(number_of(q.pop_newest_owner(0)), 3u);
  ASSERT_TRUE(q.push_owner(&items[4]));
  EXPECT_EQ(q.pop_newest_owner(0), nullptr) << "one that is not marked lies behind them";
  ASSERT_TRUE(q.push_newest_owner(&items[5]));
  EXPECT_EQ(number_of(q.pop_newest_owner(0)), 5u);
  EXPECT_EQ(q.pop_newest_owner(0), nullptr) << "the one that is not marked again";
  for (const std::size_t i : {0u, 1u, 2u, 4u}) EXPECT_EQ(number_of(q.pop_owner()), i);
  EXPECT_EQ(q.pop_owner(), nullptr);
  ASSERT_TRUE(q.push_newest_owner(&items[6]));
  EXPECT_EQ(number_of(q.pop_owner()), 6u);
  EXPECT_EQ(q.pop_newest_owner(0), nullptr) << "marked, but gone";
}

TEST(LocalQueue, GivesBackTheNewestOnlyIfSoManyAreLeft) {
  local_queue q;
  std::vector<item> items = make_items(3);
  for (item& i : items) ASSERT_TRUE(q.push_newest_owner(&i));
  EXPECT_EQ(q.pop_newest_owner(3), nullptr);
  EXPECT_EQ(number_of(q.pop_newest_owner(2)), 2u);
  EXPECT_EQ(q.pop_newest_owner(2), nullptr);
  EXPECT_EQ(q.size(), 2u);
}

TEST(LocalQueue, TheNewestAcrossTheWrapOfTheRing) {
  local_queue q;
  std::vector<item> items = make_items(local_queue::kCapacity);
  item filler;
  for (int i = 0; i < 200; ++i) q.push_owner(&filler), q.pop_owner();
  for (item& i : items) ASSERT_TRUE(q.push_newest_owner(&i));
  EXPECT_FALSE(q.push_newest_owner(&filler));
  for (std::size_t i = items.size(); i > 0; --i) ASSERT_EQ(number_of(q.pop_newest_owner(0)), i - 1);
  EXPECT_EQ(q.pop_newest_owner(0), nullptr);
  EXPECT_EQ(q.size(), 0u);
}

// One owner pushes, pops at both ends and spills; thieves steal. Every item is seen exactly once.
TEST(LocalQueue, EveryItemLeavesExactlyOnceUnderThieves) {  // [15]
  constexpr std::size_t kItems = 200'000;
  constexpr std::size_t kThieves = 3;
  local_queue owner;
  std::vector<item> items = make_items(kItems);
  atomic<std::size_t> left{kItems};
  const auto see = [&](runnable* r) {
    static_cast<item*>(r)->seen.fetch_add(1);
    left.fetch_sub(1);
  };
  std::vector<std::thread> thieves;
  for (std::size_t t = 0; t < kThieves; ++t)
    thieves.emplace_back([&] {
      local_queue mine;
      while (left.load() != 0) {
        if (runnable* r = mine.steal_half_owner(owner)) see(r);
        while (runnable* r = mine.pop_owner()) see(r);
        std::this_thread::yield();
      }
    });
  for (std::size_t i = 0; i < kItems;) {
    if (i % 16 != 0 ? owner.push_newest_owner(&items[i]) : owner.push_owner(&items[i])) {
      ++i;
      for (std::size_t back = i % 11 == 0 ? 5 : i % 2; back != 0; --back)
        if (runnable* r = owner.pop_newest_owner(i % 4 == 0 ? 2 : 0)) see(r);
      if (i % 5 == 0)
        if (runnable* r = owner.pop_owner()) see(r);
      continue;
    }
    runnable* half[local_queue::kHalf];
    if (owner.spill_half_owner(half))
      for (runnable* r : half) see(r);
  }
  while (runnable* r = owner.pop_owner()) see(r);
  for (std::thread& t : thieves) t.join();
  for (const item& i : items) ASSERT_EQ(i.seen.load(), 1) << i.number;
}

// No false empty: while the owner only adds, what was published stays visible to a thief.
TEST(LocalQueue, ThiefNeverMissesWhatWasPublished) {
  local_queue owner;
  std::vector<item> items = make_items(local_queue::kCapacity);
  atomic<std::size_t> published{0};
  std::thread adder([&] {
    for (std::size_t i = 0; i < items.size(); ++i) {
      owner.push_owner(&items[i]);
      published.store(i + 1, release);
    }
  });
  std::size_t taken = 0;
  local_queue mine;
  while (taken < items.size()) {
    const std::size_t before = published.load(acquire);
    runnable* const r = mine.steal_half_owner(owner);
    EXPECT_FALSE(before > taken && r == nullptr) << "published " << before << ", taken " << taken;
    if (r != nullptr) ++taken;
    while (mine.pop_owner() != nullptr) ++taken;
  }
  adder.join();
}

}  // namespace
}  // namespace vole::rt
