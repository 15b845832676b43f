// yield(): everybody gets on, whoever else yields [10].

#include <vole/vole.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

class Yield : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Yield);

TEST_P(Yield, LoopDoesNotStarveOneWhoIsReady) {  // [10]
  run([] {
    for (int round = 0; round < 50; ++round) {
      std::atomic<bool> ran{false};
      vole::go([&] { ran = true; });
      while (!ran) vole::yield();
    }
  });
}

TEST_P(Yield, EveryoneInACrowdGetsOn) {  // [9] [10]
  run([] {
    constexpr int kCrowd = 100, kSteps = 50;
    std::atomic<int> at_the_end{0};
    vole::wait_group done;
    for (int i = 0; i < kCrowd; ++i)
      done.go([&] {
        for (int k = 0; k < kSteps; ++k) vole::yield();
        ++at_the_end;
        while (at_the_end < kCrowd) vole::yield();  // until the slowest is here
      });
    done.wait();
    EXPECT_EQ(at_the_end, kCrowd);
  });
}

TEST_P(Yield, ReachesThoseInAFullGlobalQueue) {  // [7] [9]
  run([this] {
    // Yielders keep the rings busy; the crowd is injected by a plain thread, so it stands in the
    // global queue, far beyond what the rings hold.
    std::atomic<bool> stop{false};
    vole::wait_group yielders, crowd;
    for (int i = 0; i < 2 * procs(); ++i)
      yielders.go([&] {
        while (!stop) vole::yield();
      });
    constexpr int kCrowd = 2000;
    crowd.add(kCrowd);
    std::thread([&] {
      for (int i = 0; i < kCrowd; ++i) vole::go([&] { crowd.done(); });
    }).join();
    crowd.wait();
    stop = true;
    yielders.wait();
  });
}

TEST_P(Yield, ReachesThoseBehindAnOverflowingRing) {  // [6]
  run([] {
    constexpr int kCrowd = 3000;
    std::atomic<int> ran{0};
    vole::wait_group done;
    for (int i = 0; i < kCrowd; ++i)
      done.go([&] {
        ++ran;
        while (ran < kCrowd) vole::yield();
      });
    done.wait();
    EXPECT_EQ(ran, kCrowd);
    EXPECT_GT(vole::stats().overflows, 0u);
  });
}

TEST_P(Yield, OnAPlainThreadReturns) {
  for (int i = 0; i < 100; ++i) vole::yield();
  EXPECT_EQ(vole::num_goroutines(), 0u) << "and starts nothing";
}

}  // namespace
