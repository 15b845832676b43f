// A connection's deadline is lost: its timer, added again by its own fire function, lands on the
// timer set of another P.
//
//     P0 fires the timer of P1's timer set        P2 sets a deadline
//     the deadline is a later one now:
//       adds the timer again, on P0's timer set   stops the timer: its home was P1's timer set,
//                                                 where it is still the one that fires; looks for
//                                                 its place in P1's heap, finds P0's
//
// A fire function adds its timer with add_timer_again, on the timer_set that fires it. Checked builds
// stop at the first one that does not; ThreadSanitizer reports the race.

#include <vole/vole.h>

#include <array>
#include <atomic>
#include <chrono>

#include "../api/net_pair.h"
#include "regress.h"

namespace {

using namespace std::chrono_literals;
using vole_test::conn_pair;

VOLE_AT_PROCS(NetDeadlineOnAnotherShelf, 1, 2, 4);

// The timer comes for the first deadline, finds the second one and adds itself again.
TEST_P(NetDeadlineOnAnotherShelf, ALaterDeadlineIsKept) {
  run([] {
    conn_pair p = vole_test::connected_pair();
    p.near.set_read_deadline(vole::now() + 2ms);
    auto reader = vole::spawn([&p] { return vole_test::read_error(p.near); });
    vole::yield();
    p.near.set_read_deadline(vole::now() + 20ms);
    EXPECT_EQ(reader.join(), vole::errc::deadline_exceeded);
  });
}

// Deadlines are pushed forward by one goroutine while they expire on another P.
TEST_P(NetDeadlineOnAnotherShelf, PushedForwardWhileTheyExpire) {
  run([] {
    constexpr int kPairs = 8;
    std::array<conn_pair, kPairs> pairs;
    for (conn_pair& p : pairs) p = vole_test::connected_pair();
    std::atomic<bool> over{false};
    vole::wait_group all;
    for (conn_pair& p : pairs)
      all.go([&p, &over] {
        for (; !over; vole::yield())
          EXPECT_EQ(vole_test::read_error(p.near), vole::errc::deadline_exceeded);
      });
    for (vole_test::rounds r(2000, 150ms); r.next();) {
      for (conn_pair& p : pairs) p.near.set_read_deadline(vole::now() + 100us);
      vole::sleep_for(50us);
    }
    over = true;
    for (conn_pair& p : pairs) p.near.set_read_deadline(vole::now() + 100us);
    all.wait();
  });
}

}  // namespace
