// run() does not return when a goroutine ends while locked, just as the runtime does.
//
//     locked goroutine's M                   run()
//     goroutine ends while locked: the
//       thread must end with it [25]         main returns
//     asks the thread maker to see to that   settles threads, stops the thread maker: it
//                                              ends before it has read the request
//     counted as alive                       waits for it, for ever
//
// Now the M ends by itself: it takes its record off the books under the scheduler
// lock, or says farewell if the runtime ends (end_m, src/sched/work/loop.cc).

#include <vole/vole.h>

#include "regress.h"

namespace {

VOLE_AT_PROCS(RunHangsAfterLockedEnd, 1, 2, 4);

TEST_P(RunHangsAfterLockedEnd, RunReturns) {  // [25]
  for (vole_test::rounds r(20'000, std::chrono::milliseconds(900)); r.next();)
    vole::run([] {
      vole::wait_group done;
      done.go([] { vole::lock_os_thread(); });
      done.wait();
    });
  expect_clean();
}

TEST_P(RunHangsAfterLockedEnd, SeveralAtOnceAndByExit) {  // [25]
  for (vole_test::rounds r(20'000, std::chrono::milliseconds(900)); r.next();)
    vole::run([] {
      vole::wait_group done;
      for (int i = 0; i < 3; ++i)
        done.go([] {
          vole::lock_os_thread();
          vole::yield();
          vole::exit_goroutine();
        });
      done.wait();
    });
  expect_clean();
}

}  // namespace
