// Threads that a burst of blocking calls has left behind are given back to the system [2].
//
// The time they sleep before that is 20 ms here, by VOLE_DEBUG=threadidle.

#include <vole/vole.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "fixture.h"

namespace {

using vole_test::eventually;
using vole_test::kernel_threads;

[[maybe_unused]] const int kSet = ::setenv("VOLE_DEBUG", "threadidle=20", 1);  // before main

class IdleThreads : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(IdleThreads);

constexpr int kBurst = 60;
constexpr int kAFew = 4 + 2;  // those that stay; one in the poller, one that has just been called

// So many goroutines in a blocking call at once, each on a thread of its own.
void burst(int n) {
  std::atomic<int> inside{0};
  vole::wait_group done;
  for (int i = 0; i < n; ++i)
    done.go([&inside, n] {
      vole::blocking([&inside, n] {
        ++inside;
        for (int seen; (seen = inside.load()) < n;) inside.wait(seen);
        inside.notify_all();
      });
    });
  done.wait();
}

bool only_a_few_left() { return vole::stats().threads <= vole::max_procs() + kAFew; }

TEST_P(IdleThreads, AreGivenBackAfterABurst) {
  const std::ptrdiff_t before = kernel_threads();
  for (int round = 0; round < 2; ++round) {  // a second burst works, and its threads go, too
    burst(kBurst);
    EXPECT_TRUE(eventually(only_a_few_left)) << vole::stats().threads << " threads";
    // By the kernel's count: besides the Ms there are the thread maker and sysmon.
    EXPECT_TRUE(eventually([&] { return kernel_threads() <= before + procs() + kAFew + 2; }))
        << kernel_threads() << " threads, " << before << " before";
  }
}

// While the main goroutine computes, sleeps, and is locked to its thread.
TEST_P(IdleThreads, AreGivenBackBesideOthersThatWork) {
  run([] {
    vole::lock_os_thread();
    burst(kBurst);
    EXPECT_TRUE(eventually(only_a_few_left)) << vole::stats().threads << " threads";
    vole::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(vole::spawn([] { return 3; }).join(), 3);
    vole::unlock_os_thread();
  });
}

// The end comes while they leave.
TEST_P(IdleThreads, EndOfTheRuntimeWhileTheyLeave) {
  for (int round = 0; round < 10; ++round)
    run([round] {
      burst(20);
      std::this_thread::sleep_for(std::chrono::milliseconds(18 + round / 2));
    });
}

// A thread's record is used again, by another thread with another id.
TEST_P(IdleThreads, RecordsAreUsedAgain) {
  for (int round = 0; round < 4; ++round) {
    burst(kBurst);
    ASSERT_TRUE(eventually(only_a_few_left));
    EXPECT_EQ(vole::num_goroutines(), 0u);
  }
  EXPECT_LT(vole::stats().threads, kBurst);
}

}  // namespace
