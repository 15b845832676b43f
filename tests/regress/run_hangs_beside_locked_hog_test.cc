// run() does not return when a locked goroutine, once woken early, computes on.
//
//     locked M                               waker
//     parks: hands its P off
//                                            readies its goroutine; another M picks it:
//                                            next_p = P, wake()
//     idle = true
//     sleep() returns at once; idle stays
//     runs its goroutine, which computes
//
// At the end an idle M is asked to end and is waited for; one in user code is left
// behind as a zombie. This one was both. Now awake() clears the flag (src/sched/hold/thread.cc).

#include <vole/vole.h>

#include <atomic>

#include "arch/thread_word.h"
#include "gmp/m.h"
#include "regress.h"

namespace {

bool calls_itself_idle() { return vole::arch::this_m()->idle.load(std::memory_order_seq_cst); }

// Hands over at the very moment when the receiver is in the queue and its M not yet asleep.
void send_early(const vole::chan<>& to) {
  while (to.try_send() != vole::chan_status::ok) {
  }
  vole::yield();  // this M picks it, and starts the locked one
}

VOLE_AT_PROCS(RunHangsBesideLockedHog, 2, 4);

TEST_P(RunHangsBesideLockedHog, AwakeMIsNotIdle) {  // [25]
  run([] {
    const vole::chan<> bell;
    vole::wait_group done;
    std::atomic<int> woken{0}, deceived{0};
    done.go([&] {
      vole::lock_os_thread();
      while (bell.recv()) {
        ++woken;
        deceived += calls_itself_idle() ? 1 : 0;
      }
      vole::unlock_os_thread();
    });
    for (vole_test::rounds r(20'000, std::chrono::milliseconds(500)); r.next();) send_early(bell);
    bell.close();
    done.wait();
    EXPECT_EQ(deceived, 0) << "of " << woken;
  });
}

constexpr int kRounds = 4;
std::atomic<bool> zombies_may_sleep;
std::atomic<int> computing, asleep;

TEST_P(RunHangsBesideLockedHog, EndIsNotDeceivedByAnEarlyWake) {  // [25]
  zombies_may_sleep = false;
  computing = asleep = 0;
  for (int round = 0; round < kRounds; ++round)
    vole::run([round] {
      static const vole::chan<> bell;
      vole::go([] {
        vole::lock_os_thread();
        bell.recv();
        ++computing;
        while (!zombies_may_sleep) std::this_thread::yield();
        ++asleep;
        vole::yield();  // into a runtime that is gone: for ever
      });
      send_early(bell);
      while (computing == round) vole::yield();
    });
  zombies_may_sleep = true;
  EXPECT_TRUE(vole_test::eventually([] { return asleep == kRounds; }));
  expect_zombies(kRounds);
  expect_clean();
}

}  // namespace
