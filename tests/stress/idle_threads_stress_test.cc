// Threads that leave for want of work, and wakers that want just them: the time is over after a
// millisecond here, so that both happen all the while.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "stress.h"

namespace {

using vole_test::dice;
using namespace std::chrono_literals;

[[maybe_unused]] const int kSet = ::setenv("VOLE_DEBUG", "threadidle=1", 1);  // before main

VOLE_STRESS(IdleThreadsStress);

void life(dice d, std::atomic<int>& ran) {
  switch (d.below(5)) {
    case 0: vole::sleep_for(std::chrono::microseconds(d.below(2000))); break;
    case 1: vole::spawn([] { vole::yield(); }).join(); break;
    case 2:
      vole::lock_os_thread();
      vole::yield();
      break;  // its thread ends with it
    default:
      vole::blocking(
          [&] { std::this_thread::sleep_for(std::chrono::microseconds(d.below(1500))); });
  }
  ++ran;
}

TEST_P(IdleThreadsStress, BurstsOfAllSizes) {
  const vole_test::time_limit limit;
  for (std::uint64_t round = 0; !limit.over(); ++round) {
    std::atomic<int> ran{0};
    int born = 0;
    vole::run([&] {
      for (std::uint64_t k = 0; k < 8 && !limit.over(); ++k) {
        dice d(round * 8 + k);
        const int n = static_cast<int>(d.below(40));
        vole::wait_group done;
        for (int i = 0; i < n; ++i) done.go([mine = dice(d.fork()), &ran] { life(mine, ran); });
        born += n;
        if (d.below(4) == 0) vole::set_max_procs(1 + static_cast<int>(d.below(8)));
        done.wait();
        vole::sleep_for(std::chrono::microseconds(d.below(2500)));
      }
    });
    ASSERT_EQ(ran, born);
  }
  vole::set_max_procs(procs());
  expect_clean();
}

}  // namespace
