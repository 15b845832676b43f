// A checked build dies when more than sixteen running Ps are stopped.
//
//     stopper
//     for every running P: take its M's retake lock, hide the P
//       the 17th: "too many locks are held at once"
//     one membarrier for all of them
//     look at each, release
//
// All retake locks are held across the one barrier, so the checker of lock order must
// have room for one per P: 1024 (src/base/lock_order.cc).

#include <vole/vole.h>

#include <atomic>

#include "regress.h"

namespace {

VOLE_AT_PROCS(ManyRunningPsStopped, 24, 100);

TEST_P(ManyRunningPsStopped, WhileAllAreInUserCode) {  // [33]
  run([this] {
    std::atomic<int> up{0};
    std::atomic<bool> stop{false};
    vole::wait_group hogs;
    for (int i = 1; i < procs(); ++i)
      hogs.go([&] {
        ++up;
        while (!stop) std::this_thread::yield();
      });
    ASSERT_TRUE(vole_test::eventually([&] {
      vole::yield();
      return up == procs() - 1;
    })) << up
        << " hogs run";
    EXPECT_EQ(vole::set_max_procs(procs() - 1), procs());
    stop = true;
    hogs.wait();
  });
}

}  // namespace
