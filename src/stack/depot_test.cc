// The depot's stock: sizes, order, what is kept warm, and who may come at once.
#include "stack/depot.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <thread>
#include <vector>

#include "base/atomic.h"
#include "stack/depot_fixture.h"
#include "stack/region.h"

namespace vole::rt {
namespace {

TEST_F(Depot, SizesRoundUpToFewClasses) {
  EXPECT_EQ(depot::round_size(0), depot::kMinStackSize);
  EXPECT_EQ(depot::round_size(256 * 1024), 256u * 1024);
  EXPECT_EQ(depot::round_size(256 * 1024 + 1), 320u * 1024);
  EXPECT_EQ(depot::round_size(depot::kMaxStackSize), depot::kMaxStackSize);
  std::set<std::size_t> sizes;
  for (std::size_t n = 1; n <= depot::kMaxStackSize; n += n / 16 + 1) {
    const std::size_t rounded = depot::round_size(n);
    EXPECT_GE(rounded, n);
    EXPECT_EQ(rounded % os::page_size(), 0u);
    EXPECT_EQ(depot::round_size(rounded), rounded);
    sizes.insert(rounded);
  }
  EXPECT_LE(sizes.size(), 65u);
}

TEST_F(Depot, StacksAreDistinctWritableAndColoured) {
  const std::vector<stack> all = take(kSize, 200);
  ASSERT_EQ(all.size(), 200u);
  std::set<std::byte*> places;
  std::set<std::ptrdiff_t> colours;
  for (const stack& s : all) {
    ASSERT_TRUE(s);
    EXPECT_EQ(s.bytes, kSize);
    EXPECT_TRUE(places.insert(s.lo).second);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(s.top()) % 16, 0u);
    colours.insert(s.lo + s.bytes - s.top());
    touch(s);
    s.lo[0] = std::byte{1};
  }
  EXPECT_EQ(colours.size(), 32u);
  EXPECT_EQ(*colours.rbegin(), 31 * 64);
  EXPECT_EQ(depot::count().held, 200u);
  put(all);
  EXPECT_EQ(depot::count().held, 0u);
  EXPECT_EQ(depot::count().hot, 200u);
}

TEST_F(Depot, LastPutIsTakenFirst) {
  const std::vector<stack> all = take(kSize, 3);
  put(all);
  EXPECT_EQ(take_one(kSize).id, all[2].id);
  EXPECT_EQ(take_one(kSize).id, all[1].id);
  EXPECT_EQ(take_one(kSize).id, all[0].id);
}

TEST_F(Depot, MixedSizesGoBackToTheirOwnClass) {
  const stack small = take_one(depot::kMinStackSize);
  const stack large = take_one(8 << 20);
  const stack both[] = {small, large};
  touch(small);
  touch(large);
  depot::put(both, 2);
  EXPECT_EQ(take_one(8 << 20).id, large.id);
  EXPECT_EQ(take_one(depot::kMinStackSize).id, small.id);
}

TEST_F(Depot, EverySizeThereIsFits) {
  if (kSanitized) GTEST_SKIP() << "too much address space";
  for (std::size_t n = 0; n <= depot::kMaxStackSize;) {
    const stack s = take_one(n);
    touch(s);
    n = s.bytes + std::size_t{1};
  }
  stack s;
  int error = 0;
  EXPECT_EQ(depot::take(depot::kMaxStackSize + 1, &s, 1, &error), 0u);
  EXPECT_EQ(error, EINVAL);
}

TEST_F(Depot, TrimGivesBackOnlyWhatNobodyNeededSince) {
  const std::vector<stack> all = take(kSize, 64);
  for (const stack& s : all) touch(s);
  put(all);
  EXPECT_EQ(depot::trim(), 64u);  // put since the last trim
  const std::vector<stack> some = take(kSize, 10);
  put(some);
  EXPECT_EQ(depot::trim(), 10u);
  EXPECT_EQ(depot::count().cold, 54u);
  std::size_t pages = 0;
  for (const stack& s : all) pages += resident(s);
  EXPECT_EQ(pages, 10u);
  EXPECT_EQ(depot::trim(), 0u);
  EXPECT_EQ(depot::count().cold, 64u);
  for (const stack& s : all) EXPECT_EQ(resident(s), 0u);
  const stack again = take_one(kSize);
  EXPECT_EQ(again.lo[again.bytes - 1], std::byte{0});
  EXPECT_TRUE(depot::is_guard(again.lo - 1));
}

TEST_F(Depot, PinnedRegionSurvivesRelease) {
  const stack kept = take_one(kSize);
  touch(kept);
  depot::pin(kept);
  depot::release_all();
  EXPECT_EQ(kept.lo[kept.bytes - 1], std::byte{1});
  EXPECT_TRUE(depot::is_guard(kept.lo - 1));
  const stack next = take_one(kSize);
  EXPECT_NE(next.id, kept.id);
  EXPECT_NE(next.lo, kept.lo);
  touch(next);
}

TEST_F(Depot, NeighboursGetFreshStacksFromDifferentMappings) {
  stack of[3];
  int error = 0;
  for (std::uint32_t who = 0; who < 3; ++who)
    ASSERT_EQ(depot::take(kSize, &of[who], 1, &error, who), 1u);
  EXPECT_NE(regions::slot_of(of[0].id), regions::slot_of(of[1].id));
  EXPECT_NE(regions::slot_of(of[1].id), regions::slot_of(of[2].id));
  depot::put(&of[1], 1);
  stack again;
  ASSERT_EQ(depot::take(kSize, &again, 1, &error, 0), 1u);
  EXPECT_EQ(again.id, of[1].id) << "but a warm one is everybody's";
  depot::put(&of[0], 1);
  depot::put(&of[2], 1);
  depot::put(&again, 1);
}

TEST_F(Depot, ThreadsTakePutAndTrimAtOnce) {
  std::vector<std::thread> threads;
  base::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &wrong] {
      stack mine[7];
      for (int round = 0; round < 2000; ++round) {
        int error = 0;
        const std::size_t n = depot::take(t % 2 == 0 ? kSize : 64 * 1024, mine, 7, &error);
        for (std::size_t i = 0; i < n; ++i) mine[i].lo[64] = static_cast<std::byte>(t + 1);
        if (t == 0 && round % 50 == 0) depot::trim();
        for (std::size_t i = 0; i < n; ++i)
          if (mine[i].lo[64] != static_cast<std::byte>(t + 1)) wrong.fetch_add(1);
        if (n == 0) wrong.fetch_add(1);
        depot::put(mine, n);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(depot::count().held, 0u);
}

}  // namespace
}  // namespace vole::rt
