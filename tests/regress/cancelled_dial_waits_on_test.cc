// A dial whose context is cancelled while the connection is being started waits for the kernel's
// time-out, two minutes.
//
//     dial, on P0                                  the cancellation, on P1
//     has the context call it back
//                                                  is called back: sets the write deadline to
//                                                    "over", wakes whoever waits
//     sets the write deadline to "never":
//       the cancellation is overwritten
//     waits
//
// A cancellation and a deadline are two facts.

#include <sys/socket.h>
#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "regress.h"

namespace {

using namespace std::chrono_literals;
using vole::net::conn;
using vole::net::listener;

VOLE_AT_PROCS(CancelledDialWaitsOn, 2, 4);

// Listens, but its queue is full: connecting takes for ever.
struct full_listener {
  full_listener() : l(vole::net::listen("tcp", "127.0.0.1:0")) {
    ::listen(l.native_handle(), 0);
    std::error_code error;
    for (int refused = 0; refused < 2;) {
      conn c = vole::net::dial("tcp", at(), 50ms, error);
      if (c) pending.push_back(std::move(c));
      if (!c) ++refused;
    }
  }
  std::string at() const { return l.local_address().to_string(); }
  listener l;
  std::vector<conn> pending;
};

// The canceller starts with the dial and comes a little later each time, so that it meets every
// step of it.
void dial_and_cancel(const std::string& at, int delay) {
  auto [ctx, cancel] = vole::with_cancel(vole::context::background());
  std::atomic<bool> starts{false};
  auto canceller = vole::spawn([&starts, &cancel = cancel, delay] {
    while (!starts.load(std::memory_order_relaxed)) vole::yield();
    for (int i = 0; i < delay; ++i) starts.load(std::memory_order_seq_cst);
    cancel();
  });
  std::error_code error;
  starts = true;
  EXPECT_FALSE(vole::net::dial("tcp", at, ctx, error));
  EXPECT_EQ(error, vole::errc::canceled);
  canceller.join();
}

TEST_P(CancelledDialWaitsOn, EveryStepOfADialIsCancelled) {
  run([] {
    const full_listener full;
    int delay = 0;
    for (vole_test::rounds r(20'000, 500ms); r.next(); delay = (delay + 17) % 20'000)
      dial_and_cancel(full.at(), delay);
  });
}

}  // namespace
