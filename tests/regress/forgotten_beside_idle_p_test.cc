// A new goroutine does not start although a P is idle, until its creator parks.
//
//     main (P0)                              hog's M (P1)
//     go(hog)                                runs hog
//     go(other): no idle P
//       need_spinning = 1
//     wait(): runs other here
//                                            hog ends; spins, finds nothing
//                                            go_idle while spinning: does not look at
//                                            need_spinning; P1 goes idle
//     go(late): need_spinning is 1:
//       "somebody will look"                 sleeps
//     computes on; late waits for ever
//
// Now go_idle tests the promise under L whether the M spins or not, so it never
// outlives the last busy P [18]. The essay is in src/sched/work/parking.h.

#include <vole/vole.h>

#include <atomic>

#include "regress.h"

namespace {

using vole_test::hog_until;

VOLE_AT_PROCS(ForgottenBesideIdleP, 2);

TEST_P(ForgottenBesideIdleP, NeedSpinningEndsWithTheLastBusyP) {  // [18]
  run([] {
    for (int round = 0; round < 10; ++round) {
      std::atomic<bool> hog_runs{false}, hog_may_end{false}, late_ran{false};
      vole::wait_group hog, other, late;
      hog.go([&] {
        hog_runs = true;
        hog_until([&] { return hog_may_end.load(); });
      });
      ASSERT_TRUE(hog_until([&] { return hog_runs.load(); })) << "on the other P";
      other.go([] {});
      other.wait();
      hog_may_end = true;
      ASSERT_TRUE(vole_test::hog_until_idle(1)) << "the hog's P";
      late.go([&] { late_ran = true; });
      EXPECT_TRUE(hog_until([&] { return late_ran.load(); })) << "round " << round;
      late.wait();
      hog.wait();
      if (HasFailure()) return;
    }
  });
}

}  // namespace
