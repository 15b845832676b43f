// One bit per P: neighbours do not disturb each other, up to the last P.

#include "queue/p_mask.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace vole::rt {
namespace {

TEST(PMask, StartsEmpty) {  // [17]
  const p_mask m;
  for (std::uint32_t i = 0; i < kMaxProcs; ++i) ASSERT_FALSE(m.test(i));
}

TEST(PMask, SetsAndClearsOneBitOnly) {  // [17]
  p_mask m;
  for (const std::uint32_t i : {0u, 1u, 63u, 64u, 65u, 511u, 1023u}) {
    m.set(i);
    for (std::uint32_t j = 0; j < kMaxProcs; ++j) ASSERT_EQ(m.test(j), j == i);
    m.clear(i);
    ASSERT_FALSE(m.test(i));
  }
}

TEST(PMask, SettingTwiceIsSettingOnce) {
  p_mask m;
  m.set(7);
  m.set(7);
  m.clear(7);
  EXPECT_FALSE(m.test(7));
}

TEST(PMask, ThreadsOnOneWordDoNotLoseBits) {
  p_mask m;
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&m, t] {
      for (int round = 0; round < 20'000; ++round) {
        m.set(t);
        if (!m.test(t)) ADD_FAILURE() << "bit " << t << " lost";
        m.clear(t);
      }
      m.set(t);
    });
  for (std::thread& t : threads) t.join();
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(m.test(i), i < 4);
}

}  // namespace
}  // namespace vole::rt
