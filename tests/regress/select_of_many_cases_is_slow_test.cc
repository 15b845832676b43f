// A select of 65,536 cases takes more than a second: its channels are sorted by insertion.
//
//     cases                    4,096     65,536
//     by insertion                 1        256      (times as long: the square)
//     n log n                      1         21
//
// Go: 14 ms. The sort is counted in src/chan/heap_sort_test.cc; this is about all of the select,
// in the time that the thread has had, the best of some runs.

#include <vole/vole.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <random>
#include <vector>

#include "regress.h"

namespace {

using vole::chan;
using vole::on_default;
using vole::on_recv;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Of n channels, or of one n times, with a default.
double best_of_a_few(std::size_t n, bool one) {
  std::vector<chan<int>> channels;
  for (std::size_t i = 0; i < (one ? 1 : n); ++i) channels.emplace_back();
  std::shuffle(channels.begin(), channels.end(), std::mt19937(7));
  std::vector<vole::select_case> cases;
  for (std::size_t i = 0; i < n; ++i) cases.emplace_back(on_recv(channels[one ? 0 : i]));
  cases.emplace_back(on_default());
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double begin = cpu_seconds();
    EXPECT_EQ(vole::select(cases), n);
    best = std::min(best, cpu_seconds() - begin);
  }
  return best;
}

VOLE_AT_PROCS(SelectOfManyCasesIsSlow, 1);

// Memory that no longer fits into a cache may make it slower by a factor; the square would be 256.
TEST_P(SelectOfManyCasesIsSlow, NoSquare) {
  vole::run([] {
    for (const bool one : {false, true})
      EXPECT_LT(best_of_a_few(65'536, one), 100 * best_of_a_few(4'096, one));
  });
}

}  // namespace
