// A channel that outlives its runtime crashes the next one: a select is still in its queue.
//
//     goroutine                              runtime
//     select(recv a, recv b): in both
//       queues, parked
//     (a value comes through a, or the
//     time of on_after: made runnable;
//     it would leave b's queue when it
//     runs)                                  ends: unlinks all who are *waiting*; this one
//                                              is runnable; its stack is unmapped
//                                            the next one: b.send() finds a receiver,
//                                              moves the value into that stack: SIGSEGV
//
// A goroutine with waiters in queues must be unlinked at the end, runnable or not.

#include <vole/vole.h>

#include <atomic>
#include <chrono>

#include "regress.h"
#include "sched/run/lifecycle.h"

namespace {

using namespace std::chrono_literals;
namespace lifecycle = vole::rt::lifecycle;

// Keeps the one P until the runtime has begun to stop, and a little longer.
void hog_into_the_end() {
  vole_test::hog_until([] { return lifecycle::now() != lifecycle::phase::running; }, 200ms);
  vole_test::compute_for(10ms);
}

VOLE_AT_PROCS(StaleSelectAfterRestart, 1);

TEST_P(StaleSelectAfterRestart, WokenByAnotherCase) {
  for (int round = 0; round < 5; ++round) {
    const vole::chan<int> a, b(1);
    vole::run([&] {
      vole::go([&] {
        vole::select(vole::on_recv(a), vole::on_recv(b));
        for (;;) vole::yield();
      });
      while (a.try_send(1) != vole::chan_status::ok) vole::yield();
      vole::go(hog_into_the_end);  // before the selecting one, mostly
    });
    ASSERT_EQ(b.try_send(5), vole::chan_status::ok);
    ASSERT_EQ(b.size(), 1u) << "nobody is left to take it";
  }
  allow_zombies();
}

TEST_P(StaleSelectAfterRestart, WokenByTheClock) {
  for (int round = 0; round < 5; ++round) {
    const vole::chan<int> b(1);
    vole::run([&] {
      std::atomic<bool> waits{false};
      vole::go([&] {
        waits = true;
        vole::select(vole::on_recv(b), vole::on_after(1ms));
        for (;;) vole::yield();
      });
      while (!waits) vole::yield();
      vole_test::compute_for(5ms);  // main keeps the P: the clock has fired, the select cannot run
      vole::go(hog_into_the_end);
    });
    ASSERT_EQ(b.try_send(5), vole::chan_status::ok);
    ASSERT_EQ(b.size(), 1u) << "nobody is left to take it";
  }
  allow_zombies();
}

TEST_P(StaleSelectAfterRestart, TimedReceiveWokenByTheClock) {
  for (int round = 0; round < 5; ++round) {
    const vole::chan<int> b(1);
    vole::run([&] {
      std::atomic<bool> waits{false};
      vole::go([&] {
        waits = true;
        (void)b.recv_for(1ms);
        for (;;) vole::yield();
      });
      while (!waits) vole::yield();
      vole_test::compute_for(5ms);
      vole::go(hog_into_the_end);
    });
    ASSERT_EQ(b.try_send(5), vole::chan_status::ok);
    ASSERT_EQ(b.size(), 1u) << "nobody is left to take it";
  }
  allow_zombies();
}

}  // namespace
