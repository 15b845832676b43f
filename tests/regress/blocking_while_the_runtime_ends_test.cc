// blocking() at the end of the runtime: SIGSEGV in begin_call.
//
//     M, in user code                        run() ends
//     begin_call: p = m->hot.p
//       (the kernel takes the processor)     the world stops: P is taken, M is evicted
//                                            50 ms later: M is a zombie
//                                            release_memory: the P's record is unmapped
//     p->schedtick.load(): SIGSEGV
//
// begin_call now enters the runtime to read the P's tick. An M that is inside is waited
// for, and finds no P. [23]

#include <vole/vole.h>

#include <atomic>

#include "regress.h"

namespace {

VOLE_AT_PROCS(BlockingWhileTheRuntimeEnds, 1, 2);

TEST_P(BlockingWhileTheRuntimeEnds, LeavesZombiesNotCrashes) {
  constexpr int kEach = 3;
  int runs = 0;
  static std::atomic<long> calls{0};  // zombies outlive the test
  for (vole_test::rounds r(10); r.next(); ++runs)
    vole::run([] {
      const long before = calls;
      for (int i = 0; i < kEach; ++i)
        vole::go([] {
          for (;;) vole::blocking([] { ++calls; });
        });
      while (calls == before) vole::yield();
    });
  // Each is a zombie, or had not begun, or was asked to yield at the right moment.
  allow_zombies();
  EXPECT_GT(runs, 0);
}

}  // namespace
