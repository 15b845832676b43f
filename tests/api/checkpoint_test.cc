// checkpoint(): a loop that calls nothing else yields when its slice is over [29].
//
// Note   no P is taken here, and who waits for one is in the global queue: nothing but the checkpoint
//        can let it run.

#include <vole/vole.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "fixture.h"

namespace {

[[maybe_unused]] const int no_eviction = setenv("VOLE_DEBUG", "evict=0", 1);

class Checkpoint : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, Checkpoint, testing::Values(1), vole_test::procs_name);

TEST_P(Checkpoint, IsAllThatLetsOthersRun) {  // [29]
  run([] {
    std::atomic<bool> ran{false};
    std::thread([&] { vole::go([&] { ran = true; }); }).join();
    EXPECT_FALSE(ran);
    while (!ran.load(std::memory_order_relaxed)) vole::checkpoint();
    EXPECT_GE(vole::stats().preemptions, 1u);
    EXPECT_EQ(vole::stats().evictions, 0u);
  });
}

TEST_P(Checkpoint, ReturnsAtOnceUnlessAsked) {
  run([] {
    bool ran = false;
    vole::wait_group done;
    done.go([&] { ran = true; });
    for (int i = 0; i < 10; ++i) vole::checkpoint();
    EXPECT_TRUE(!ran || vole::stats().preemptions > 0);
    done.wait();
  });
  vole::checkpoint();  // on a plain thread: nothing
}

}  // namespace
