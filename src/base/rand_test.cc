#include "base/rand.h"

#include <gtest/gtest.h>

namespace vole::base {
namespace {

TEST(Rand, SameSeedGivesSameNumbers) {
  rand_state a, b, c;
  a.seed(7);
  b.seed(7);
  c.seed(8);
  int equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t n = a.next();
    EXPECT_EQ(n, b.next());
    equal += n == c.next();
  }
  EXPECT_LT(equal, 5);
}

TEST(Rand, BelowStaysBelowAndReachesEverything) {
  rand_state r;
  EXPECT_EQ(r.below(0), 0u);
  EXPECT_EQ(r.below(1), 0u);
  int seen[7] = {};
  for (int i = 0; i < 70'000; ++i) {
    const std::uint32_t n = r.below(7);
    ASSERT_LT(n, 7u);
    ++seen[n];
  }
  for (const int n : seen) {
    EXPECT_GT(n, 9'000);
    EXPECT_LT(n, 11'000);
  }
}

TEST(Rand, EveryBitIsSetHalfTheTime) {
  rand_state r;
  int ones[64] = {};
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t n = r.next64();
    for (int bit = 0; bit < 64; ++bit) ones[bit] += static_cast<int>(n >> bit & 1);
  }
  for (const int n : ones) {
    EXPECT_GT(n, 4'700);
    EXPECT_LT(n, 5'300);
  }
}

}  // namespace
}  // namespace vole::base
