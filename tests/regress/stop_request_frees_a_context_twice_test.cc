// request_stop() on the token of with_stop_token, while the context's owner waits for the end of it
// and lets go: the record was freed twice.
//
//     request_stop()                            the owner
//     callback: has no reference
//       marks the context, closes done
//                                             sees err(), lets go of both references: 1 -> 0
//                                               frees; waits for the callback
//       shares for what is left: 0 -> 1
//       lets go of that: 1 -> 0, frees
//                                               frees
//
// Many wait for done, so that closing it takes long enough for the owner to be in between.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <optional>
#include <stop_token>
#include <thread>

#include "regress.h"

namespace {

VOLE_AT_PROCS(StopRequest, 1, 2, 4);

// The owner's end: a plain thread, so that there is one at every number of Ps.
template <class Ask>
void owner_leaves_meanwhile(Ask ask) {
  for (vole_test::rounds r(150); r.next();) {
    std::stop_source source;
    std::optional made(vole::with_stop_token(vole::context::background(), source.get_token()));
    vole::wait_group woken;
    for (int i = 0; i < 100; ++i) woken.go([done = made->ctx.done()] { done.recv(); });
    vole::yield();
    std::thread owner([&made] {
      vole_test::hog_until([&made] { return static_cast<bool>(made->ctx.err()); });
      made.reset();
    });
    ask(source);
    owner.join();
    woken.wait();
  }
}

TEST_P(StopRequest, OnAGoroutineWhileTheOwnerLeaves) {
  run([] { owner_leaves_meanwhile([](std::stop_source& s) { EXPECT_TRUE(s.request_stop()); }); });
}

TEST_P(StopRequest, OnAPlainThreadWhileTheOwnerLeaves) {
  run([] {
    owner_leaves_meanwhile(
        [](std::stop_source& s) { std::thread([&s] { EXPECT_TRUE(s.request_stop()); }).join(); });
  });
}

}  // namespace
