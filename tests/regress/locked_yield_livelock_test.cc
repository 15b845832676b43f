// A locked goroutine that yields after its slice is over never runs again; its stack overflows.
//
//     locked goroutine's M                   sysmon
//     computes for more than 10 ms           attention = 1
//     yield(): hands its P off, sleeps
//     woken with a P, runs the goroutine
//     leaves the runtime: attention is 1
//       yields again, one frame deeper
//     woken, leaves: attention is 1 ...
//
// Only the search for work cleared the word, and a locked M does not search. Now it
// is cleared where a locked M parks (src/sched/life/locked.cc) [25] [27].

#include <vole/vole.h>

#include <atomic>

#include "regress.h"

namespace {

VOLE_AT_PROCS(LockedYieldLivelock, 1, 2);

TEST_P(LockedYieldLivelock, YieldReturnsAfterTheSlice) {  // [25] [27]
  run([] {
    for (int round = 0; round < 5; ++round) {
      std::atomic<bool> stop{false};
      vole::wait_group done, others;
      for (int i = 0; i < 4; ++i)  // somebody to yield to, on every P
        others.go([&] {
          while (!stop) vole::yield();
        });
      done.go([] {
        vole::lock_os_thread();
        vole_test::compute_for(vole_test::kPastItsSlice);
        for (int i = 0; i < 10; ++i) vole::yield();
        vole::unlock_os_thread();
      });
      done.wait();
      stop = true;
      others.wait();
    }
  });
}

}  // namespace
