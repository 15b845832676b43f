// A goroutine that yields waits behind a hog although a P is idle.
//
//     main (P0)                              P1
//     done(): readies B into runnext;
//       the wake-up is deferred              idle
//     yield(): takes B, puts itself into
//       the ring and tells nobody
//     B computes on P0                       idle, for as long as B computes
//     (main waits in P0's ring)
//
// Now sysmon wakes a thread for it: a P that has had work and the same slice for a whole
// look, while another P was idle, gets a thief within a millisecond (src/sched/work/wake.h).
// The test allows seconds.

#include <vole/vole.h>

#include <atomic>

#include "regress.h"

namespace {

using vole_test::hog_until;

VOLE_AT_PROCS(StarvedAfterYield, 2, 4);

TEST_P(StarvedAfterYield, YieldedOneRunsBesideAHog) {
  run([this] {
    for (int round = 0; round < 5; ++round) {
      std::atomic<bool> waiting{false}, back{false}, seen{false};
      vole::wait_group gate, done;
      gate.add();
      done.go([&] {
        waiting = true;
        gate.wait();
        seen = hog_until([&] { return back.load(); });
      });
      ASSERT_TRUE(hog_until([&] { return waiting.load(); }));
      ASSERT_TRUE(vole_test::hog_until_idle(procs() - 1)) << "B is parked, its P idle";
      gate.done();
      vole::yield();
      back = true;
      done.wait();
      ASSERT_TRUE(seen) << "main came back only after the hog, round " << round;
    }
  });
}

// The same debt without a yield: whoever was readied runs beside the hog that readied it [16].
TEST_P(StarvedAfterYield, ReadiedOneRunsBesideTheHogThatReadiedIt) {  // [16]
  run([this] {
    for (int round = 0; round < 5; ++round) {
      std::atomic<bool> waiting{false}, ran{false};
      vole::wait_group gate, done;
      gate.add();
      done.go([&] {
        waiting = true;
        gate.wait();
        ran = true;
      });
      ASSERT_TRUE(hog_until([&] { return waiting.load(); }));
      ASSERT_TRUE(vole_test::hog_until_idle(procs() - 1));
      gate.done();
      ASSERT_TRUE(hog_until([&] { return ran.load(); })) << "round " << round;
      done.wait();
    }
  });
}

}  // namespace
