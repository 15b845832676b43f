// The global run queue: a FIFO whose size anybody may read, and a P's fair share of it.

#include "queue/global_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

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

TEST(GlobalQueue, AppendsAChainInOneGo) {  // [6]
  global_queue q;
  std::array<runnable, 4> r;
  q.push_back_locked(&r[0]);
  r[1].next = &r[2];
  r[2].next = &r[3];
  q.append_locked(&r[1], &r[3], 3);
  EXPECT_EQ(q.size_hint(), 4u);
  for (runnable& each : r) EXPECT_EQ(q.pop_locked(), &each);
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
