#include "base/lock.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace vole::base {
namespace {

using test_lock = lock<lock_rank::sched>;

TEST(Lock, CountsExactlyUnderContention) {
  test_lock l;
  long plain = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50'000; ++i) {
        holding hold(l);
        ++plain;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(plain, 6 * 50'000);
  EXPECT_FALSE(l.held());
}

TEST(Lock, TryAcquireFailsWhileHeldElsewhere) {
  test_lock l;
  l.acquire();
  bool got = true;
  std::thread([&] { got = l.try_acquire(); }).join();
  EXPECT_FALSE(got);
  l.release();
  EXPECT_TRUE(l.try_acquire());
  l.release();
}

}  // namespace
}  // namespace vole::base
