#include "chan/heap_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

namespace vole::detail {
namespace {

// Returns how often two were compared.
std::size_t sorted_by(std::vector<int> v) {
  std::vector<int> expected = v;
  std::sort(expected.begin(), expected.end());
  std::size_t compared = 0;
  heap_sort(
      v.size(), [&v](std::size_t k) noexcept -> int& { return v[k]; },
      [&compared](int a, int b) noexcept { return ++compared, a < b; });
  EXPECT_EQ(v, expected);
  return compared;
}

TEST(HeapSort, SortsAFew) {
  for (std::size_t n = 0; n <= 8; ++n) {
    std::vector<int> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<int>(i / 2);  // some twice
    do sorted_by(v);
    while (std::next_permutation(v.begin(), v.end()));
  }
}

// Whatever the order was: at most two a level, going down once to build it and once for each.
TEST(HeapSort, ComparesNLogNTimes) {
  for (const std::size_t n : {1000u, 65'536u}) {
    std::size_t levels = 0;
    while (std::size_t{1} << levels <= n) ++levels;
    std::vector<int> up(n), same(n, 7);
    std::iota(up.begin(), up.end(), 0);
    const std::vector<int> down(up.rbegin(), up.rend());
    std::vector<int> mixed = up;
    std::shuffle(mixed.begin(), mixed.end(), std::mt19937(5));
    for (const std::vector<int>& v : {up, down, same, mixed})
      EXPECT_LE(sorted_by(v), 2 * n * (levels + 1));
  }
}

}  // namespace
}  // namespace vole::detail
