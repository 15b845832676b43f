// A random tree of goroutines: spawns, yields and joins; no leaf is lost or counted twice.

#include <vole/vole.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "stress.h"

namespace {

using vole_test::dice;

VOLE_STRESS(SpawnStress);

// Counts the leaves below a node in two ways: by the sums that travel up, and by the leaves
// themselves.
std::int64_t grow(dice d, int depth, std::atomic<std::int64_t>& leaves) {
  if (depth == 0 || d.below(8) == 0) {
    for (std::uint32_t i = d.below(4); i > 0; --i) vole::yield();
    ++leaves;
    return 1;
  }
  std::vector<vole::join_handle<std::int64_t>> children;
  std::int64_t sum = 0;
  for (std::uint32_t i = 1 + d.below(4); i > 0; --i) {
    const dice child(d.fork());
    if (d.below(5) == 0) {
      sum += grow(child, depth - 1, leaves);
    } else {
      children.push_back(vole::spawn([child, depth, &leaves] { return grow(child, depth - 1, leaves); }));
    }
    if (d.below(3) == 0) vole::yield();
  }
  while (!children.empty()) {  // in random order
    const std::size_t at = d.below(static_cast<std::uint32_t>(children.size()));
    sum += children[at].join();
    children[at] = std::move(children.back());
    children.pop_back();
  }
  return sum;
}

TEST_P(SpawnStress, SumsAreConserved) {
  const vole_test::time_limit limit;
  for (std::uint64_t tree = 0; !limit.over(); ++tree) {
    vole::run([tree] {
      std::atomic<std::int64_t> leaves{0};
      const std::int64_t sum = grow(dice(tree), 7, leaves);
      EXPECT_EQ(sum, leaves);
      while (vole::num_goroutines() > 1) vole::yield();
    });
  }
  expect_clean();
}

// Bursts larger than a ring, so that everything spills and is stolen back [6] [8] [15].
TEST_P(SpawnStress, BurstsRunEachOnce) {
  const vole_test::time_limit limit;
  vole::run([&] {
    dice d(99);
    while (!limit.over()) {
      const std::uint32_t n = 1 + d.below(3000);
      std::vector<std::atomic<int>> ran(n);
      vole::wait_group done;
      for (std::uint32_t i = 0; i < n; ++i)
        done.go([&ran, i, again = d.below(4) == 0] {
          ++ran[i];
          if (again) vole::yield();
        });
      done.wait();
      for (const std::atomic<int>& r : ran) ASSERT_EQ(r, 1);
    }
  });
}

}  // namespace
