// A goroutine that asks for stats() reads records that the end of the runtime has unmapped.
//
//     goroutine                              run()
//     stats(): on a goroutine, so nobody
//       need be told                         main returns; the M is in user code
//       (in_rt is 0 meanwhile)                 for longer than the grace: a zombie
//     reads P after P                        unmaps the Ps
//     SIGSEGV
//
// Now a goroutine enters the runtime to read (src/sched/report/inspect.cc): it holds a P, or
// waits for one as everybody does, and is then no zombie.

#include <vole/vole.h>

#include <atomic>

#include "regress.h"

namespace {

// A thousand Ps take stats() long to read: it is nearly always among them.
VOLE_AT_PROCS(StatsWhileTheRuntimeEnds, 2, 1000);

TEST_P(StatsWhileTheRuntimeEnds, ReadsNothingThatIsGone) {
  static std::atomic<bool> reading;
  for (vole_test::rounds r(2000); r.next();) {
    reading = false;
    vole::run([] {
      vole::go([] {
        for (;;) {
          vole::num_goroutines();
          vole::stats();
          reading = true;
        }
      });
      while (!reading) vole::yield();
    });
  }
  allow_zombies();  // one may be caught between two calls
  expect_clean();
}

}  // namespace
