// A plain thread hangs in go(), and with it shutdown(), when the callable's copy uses vole.
//
//     plain thread                           another
//     go(callable): a guest is inside
//       copies the callable                  shutdown(): phase is stopping
//         its copy constructor: go()           waits until the guest has left
//           stopping: waits until that
//           is over                          ... which it never is
//
// Now a guest that is inside already comes in at once (depth, src/sched/run/lifecycle.cc).

#include <vole/vole.h>

#include <atomic>
#include <thread>

#include "regress.h"
#include "sched/run/lifecycle.h"

namespace {

namespace lifecycle = vole::rt::lifecycle;

std::atomic<bool> inside;
std::atomic<int> ran;

// Copied only by go(), on the plain thread; waits there until the runtime stops around it.
struct uses_vole_when_copied {
  uses_vole_when_copied() = default;
  uses_vole_when_copied(const uses_vole_when_copied& other) : copies(other.copies + 1) {
    inside = true;
    vole_test::eventually([] { return lifecycle::now() == lifecycle::phase::stopping; });
    vole::go([] { ++ran; });
    vole::stats();
  }
  void operator()() const { ++ran; }
  int copies = 0;
};

VOLE_AT_PROCS(NestedGuestHangs, 1, 2);

TEST_P(NestedGuestHangs, CopyThatUsesVoleWhileTheRuntimeStops) {
  for (int round = 0; round < 20; ++round) {
    inside = false;
    vole::go([] {});  // starts the runtime
    std::thread plain([] {
      const uses_vole_when_copied fn;
      vole::go(fn);
    });
    ASSERT_TRUE(vole_test::eventually([] { return inside.load(); }));
    vole::shutdown();
    plain.join();
  }
  expect_clean();
}

}  // namespace
