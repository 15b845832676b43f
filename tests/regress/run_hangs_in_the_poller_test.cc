// run() does not return: an M waits in the poller for a timer that is an hour away.
//
//     M0, in the poller                M1, going idle                  run()
//                                      is the runtime ending? no
//                                                                      it is: breaks the wait
//     is out, and takes the break
//     last_poll = now, sleeps
//                                      last_poll: nobody waits there
//                                      waits until the first timer     waits for M1
//
// Now who goes to wait asks once more after it has said so: either it sees that the runtime
// ends, or the break that follows is for it (wait_in_poller, src/sched/work/idle.cc).

#include <vole/vole.h>

#include <chrono>

#include "regress.h"

namespace {

using namespace std::chrono_literals;

VOLE_AT_PROCS(RunHangsInThePoller, 2, 4, 8);

TEST_P(RunHangsInThePoller, RunReturns) {
  vole::timer far(1h);  // outlives every run: pending when it ends
  for (vole_test::rounds r(20'000, 2500ms); r.next();)
    vole::run([&] {
      far.reset(1h);
      for (int i = 0; i < 2 * procs(); ++i) vole::go([] { vole::yield(); });
      vole::yield();
    });
  expect_clean();
}

}  // namespace
