// After many wasted wake-ups a program with work for two cores stays on one.
//
//     P0                                      sysmon
//     go, go: nobody is woken, since
//       wake-ups have been wasted
//     runs the first; the second may be
//       stolen                                something to steal: 1 of 32 looks
//     runs the second; nothing to steal       nothing: begins to count again
//     go, go: ...                             something: 1 of 32 looks; and so on for ever
//
// Now the count goes on over looks that find nothing. The test waits for the thefts, as long as it
// takes.

#include <vole/vole.h>

#include <chrono>
#include <cstdint>

#include "regress.h"

namespace {

VOLE_AT_PROCS(OneCoreForGood, 2, 4);

void compute() {
  std::uint64_t x = 1;
  for (int i = 0; i < 300'000; ++i) {
    x = x * 6364136223846793005u + 1;
    asm volatile("" : "+r"(x));
  }
}

template <class F>
void fork_join(int n, F f) {
  vole::wait_group children;
  for (int i = 0; i < n; ++i) children.go(f);
  children.wait();
}

TEST_P(OneCoreForGood, WorkSpreadsAgain) {
  run([] {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (std::chrono::steady_clock::now() < until) fork_join(4, [] {});
    const std::uint64_t before = vole::stats().steals;
    while (vole::stats().steals < before + 10) fork_join(2, compute);
  });
}

}  // namespace
