// The global run queue: a FIFO whose size anybody may read, and a P's fair share of it.

#include "queue/global_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <random>
#include <set>
#include <vector>

namespace vole::rt {
namespace {

constexpr std::size_t kHalf = 128;

TEST(GlobalQueue, IsFirstInFirstOut) {  // [7]
  global_queue q;
  std::array<runnable, 5> r;
  for (runnable& each : r) q.push_back_locked(&each);
  EXPECT_EQ(q.size_now(), 5u);
  for (runnable& each : r) EXPECT_EQ(q.pop_locked(), &each);
  EXPECT_EQ(q.pop_locked(), nullptr);
  EXPECT_EQ(q.size_now(), 0u);
}

TEST(GlobalQueue, PushFrontGoesFirst) {  // [33]
  global_queue q;
  std::array<runnable, 3> r;
  q.push_back_locked(&r[0]);
  q.push_front_locked(&r[1]);
  q.push_back_locked(&r[2]);
  EXPECT_EQ(q.pop_locked(), &r[1]);
  EXPECT_EQ(q.pop_locked(), &r[0]);
  EXPECT_EQ(q.pop_locked(), &r[2]);
}

TEST(GlobalQueue, AppendsSomeAndOneMoreInOneGo) {  // [6]
  global_queue q;
  std::array<runnable, 4> r;
  q.push_back_locked(&r[0]);
  runnable* const some[] = {&r[1], &r[2]};
  q.append_locked(some, &r[3]);
  EXPECT_EQ(q.size_hint(), 4u);
  for (runnable& each : r) EXPECT_EQ(q.pop_locked(), &each);
}

TEST(GlobalQueue, AppendsAChainInOneGo) {  // [32]
  global_queue q;
  std::array<runnable, 4> r;
  q.push_back_locked(&r[0]);
  r[1].next = &r[2];
  r[2].next = &r[3];
  q.append_locked(&r[1], 3);
  EXPECT_EQ(q.size_hint(), 4u);
  for (runnable& each : r) EXPECT_EQ(q.pop_locked(), &each);
}

// A kernel that gives so many crates, and no more.
template <std::size_t N>
struct few_crates {
  queue_crate* allocate_raw() noexcept { return given < N ? &all[given++] : nullptr; }
  void release_all() noexcept { given = 0; }
  std::array<queue_crate, N> all{};
  std::size_t given = 0;
};

// In and out in every order, over several crates, beside a queue that is known to be right.
template <class Queue>
void compare_with_deque(Queue& q, std::size_t most, unsigned seed, bool in_front) {
  std::vector<runnable> r(most);
  std::vector<runnable*> free;
  for (runnable& each : r) free.push_back(&each);
  std::deque<runnable*> expected;
  std::mt19937 random(seed);
  const auto one = [&] {
    runnable* const taken = free.back();
    free.pop_back();
    return taken;
  };
  const auto out = [&](runnable* got) {
    ASSERT_EQ(got, expected.front());
    expected.pop_front();
    free.push_back(got);
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t want = random() % 200;
    switch (random() % 5) {
      case 0:
        if (!free.empty()) q.push_back_locked(expected.emplace_back(one()));
        break;
      case 1:
        if (in_front && !free.empty()) q.push_front_locked(expected.emplace_front(one()));
        break;
      case 2: {
        const std::size_t n = std::min(want, free.size());
        runnable* first = nullptr;
        for (std::size_t k = 0; k < n; ++k) {
          runnable* const last = expected.empty() || k == 0 ? nullptr : expected.back();
          expected.push_back(one());
          (last != nullptr ? last->next : first) = expected.back();
        }
        q.append_locked(first, n);
        break;
      }
      case 3: {
        const std::size_t n = std::min(want, expected.size());
        std::vector<runnable*> kept;
        runnable* const first = q.pop_some_locked(n, [&](runnable* k) { kept.push_back(k); });
        if (n != 0) out(first);
        for (runnable* k : kept) out(k);
        break;
      }
      default:
        if (runnable* const got = q.pop_locked()) out(got);
    }
    ASSERT_EQ(q.size_now(), expected.size());
  }
}

TEST(GlobalQueue, KeepsOrderOverManyCrates) {  // [7]
  global_queue q;
  for (const unsigned seed : {1u, 2u, 3u}) {
    compare_with_deque(q, 5'000, seed, true);
    q.clear_locked();
  }
}

TEST(GlobalQueue, KeepsOrderWhenThereIsNoMemory) {
  basic_global_queue<few_crates<0>> none;
  compare_with_deque(none, 2'000, 1, false);
  basic_global_queue<few_crates<3>> few;
  compare_with_deque(few, 2'000, 2, false);
}

TEST(GlobalQueue, LosesNobodyInFrontWhenThereIsNoMemory) {
  basic_global_queue<few_crates<0>> q;
  std::vector<runnable> r(1'000);
  for (std::size_t i = 0; i < r.size(); ++i)
    i % 3 == 0 ? q.push_back_locked(&r[i]) : q.push_front_locked(&r[i]);
  EXPECT_EQ(q.size_now(), r.size());
  std::set<runnable*> seen;
  while (runnable* const got = q.pop_locked()) EXPECT_TRUE(seen.insert(got).second);
  EXPECT_EQ(seen.size(), r.size());
  EXPECT_EQ(q.size_now(), 0u);
}

TEST(GlobalQueue, ClearForgetsAll) {
  global_queue q;
  std::array<runnable, 2> r;
  for (runnable& each : r) q.push_back_locked(&each);
  q.clear_locked();
  EXPECT_EQ(q.size_now(), 0u);
  EXPECT_EQ(q.pop_locked(), nullptr);
}

TEST(GlobalQueue, ShareIsThePartOfOnePAndOneMore) {  // [8]
  struct row {
    std::size_t size, procs, share;
  };
  for (const row& w : {row{0, 1, 0}, row{1, 1, 1}, row{1, 4, 1}, row{2, 4, 1}, row{4, 4, 2},
                       row{10, 4, 3}, row{100, 1, 100}, row{127, 1, 127}, row{128, 1, 128},
                       row{129, 1, 128}, row{1'000'000, 4, 128}, row{1000, 1024, 1}})
    EXPECT_EQ(global_queue::share(w.size, w.procs, kHalf), w.share)
        << w.size << " for " << w.procs;
}

TEST(GlobalQueue, ShareIsNeverZeroUnlessEmptyAndNeverTooMuch) {  // [8]
  for (std::size_t procs = 1; procs <= 1024; procs *= 2)
    for (std::size_t size = 0; size < 600; ++size) {
      const std::size_t n = global_queue::share(size, procs, kHalf);
      ASSERT_EQ(n == 0, size == 0);
      ASSERT_LE(n, size);
      ASSERT_LE(n, kHalf);
    }
}

}  // namespace
}  // namespace vole::rt
