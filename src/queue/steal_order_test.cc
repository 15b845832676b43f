// The thief's round trip: every P exactly once, and not always the same way.

#include "queue/steal_order.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "base/rand.h"

namespace vole::rt {
namespace {

std::vector<std::uint32_t> visited(const steal_strides& strides, std::uint32_t random) {
  std::vector<std::uint32_t> order;
  for (steal_order o(strides, random); !o.done(); o.step()) order.push_back(o.victim());
  return order;
}

// Every n up to 64, then a sample that has primes, powers of two and the limit.
std::vector<std::uint32_t> sizes() {
  std::vector<std::uint32_t> n;
  for (std::uint32_t i = 1; i <= 64; ++i) n.push_back(i);
  for (const std::uint32_t i : {97u, 100u, 127u, 128u, 210u, 255u, 256u, 509u, 720u, 1000u, 1021u,
                                1023u, 1024u})
    n.push_back(i);
  return n;
}

TEST(StealOrder, VisitsEachExactlyOnce) {  // [14]
  steal_strides strides;
  base::rand_state random;
  for (const std::uint32_t n : sizes()) {
    strides.reset(n);
    for (int sample = 0; sample < 50; ++sample) {
      const std::uint32_t r = sample == 0 ? 0 : sample == 1 ? UINT32_MAX : random.next();
      std::vector<bool> met(n);
      const std::vector<std::uint32_t> order = visited(strides, r);
      ASSERT_EQ(order.size(), n);
      for (const std::uint32_t v : order) {
        ASSERT_LT(v, n);
        ASSERT_FALSE(met[v]) << "n " << n << ", random " << r << ", P " << v << " twice";
        met[v] = true;
      }
    }
  }
}

TEST(StealOrder, DiffersBetweenRandomNumbers) {
  steal_strides strides;
  strides.reset(8);  // 8 starts, 4 strides coprime to 8
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint32_t r = 0; r < 8 * 4; ++r) orders.insert(visited(strides, r));
  EXPECT_EQ(orders.size(), 32u);
}

// Of eight Ps: offset r % 8, stride the r / 8-th of 1, 3, 5, 7.
TEST(StealOrder, EightPs) {  // [14]
  steal_strides strides;
  strides.reset(8);
  using order = std::vector<std::uint32_t>;
  EXPECT_EQ(visited(strides, 6 + 8 * 1), (order{6, 1, 4, 7, 2, 5, 0, 3})) << "stride 3";
  EXPECT_EQ(visited(strides, 2 + 8 * 2), (order{2, 7, 4, 1, 6, 3, 0, 5})) << "stride 5";
}

TEST(StealOrder, EveryPIsFirstEquallyOften) {
  steal_strides strides;
  strides.reset(12);
  std::vector<int> first(12);
  for (std::uint32_t r = 0; r < 12 * 100; ++r) ++first[visited(strides, r).front()];
  for (const int n : first) EXPECT_EQ(n, 100);
}

TEST(StealOrder, ResetFollowsTheNumberOfPs) {
  steal_strides strides;
  strides.reset(1024);
  EXPECT_EQ(strides.size(), 1024u);
  strides.reset(1);
  EXPECT_EQ(visited(strides, 12345), std::vector<std::uint32_t>{0});
}

}  // namespace
}  // namespace vole::rt
