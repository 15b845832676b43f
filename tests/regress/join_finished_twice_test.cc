// A spawned goroutine's result is finished twice, and its state freed twice.
//
//     spawned goroutine                      main
//     computes past its slice                waits in join()
//     finish(): done() readies main,
//       drops its reference
//     leaving done(): attention is 1:
//       yields, still alive                  gets the result, returns
//                                            the runtime ends: an unfinished goroutine!
//                                            abandon(): finishes the state again
//
// Now whoever takes the task out of the goroutine's record, in one exchange, is the
// one who finishes it (claim, include/vole/detail/join.h). At one P main cannot run
// before the goroutine has yielded.

#include <vole/vole.h>

#include <memory>
#include <system_error>
#include <thread>

#include "regress.h"

namespace {

VOLE_AT_PROCS(JoinFinishedTwice, 1, 2);

TEST_P(JoinFinishedTwice, RuntimeEndsBetweenDoneAndTheEnd) {
  for (int round = 0; round < 6; ++round)
    EXPECT_EQ(vole::run([] {
                auto h = vole::spawn([] {
                  vole_test::compute_for(vole_test::kPastItsSlice);
                  return 7;
                });
                for (int i = 0; i < 4; ++i)  // somebody to yield to
                  vole::go([] {
                    for (;;) vole::yield();
                  });
                return h.join();
              }),
              7);
  expect_clean();
}

// The handle outlives the runtime: it must find the result, whole, or the news that there is none.
TEST_P(JoinFinishedTwice, HandleIsJoinedAfterTheRuntime) {
  for (int round = 0; round < 6; ++round) {
    vole::join_handle<std::unique_ptr<int>> h;
    vole::run([&h] {
      vole::wait_group computed;
      computed.add();
      h = vole::spawn([&computed] {
        vole_test::compute_for(vole_test::kPastItsSlice);
        computed.done();
        return std::make_unique<int>(7);
      });
      for (int i = 0; i < 4; ++i)
        vole::go([] {
          for (;;) vole::yield();
        });
      computed.wait();
    });
    try {
      EXPECT_EQ(*h.join(), 7);
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), vole::errc::canceled);
    }
  }
  expect_clean();
}

}  // namespace
