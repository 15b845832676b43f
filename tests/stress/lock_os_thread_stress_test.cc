// Locked and free goroutines in one crowd: each locked one keeps its thread [25].

#include <vole/vole.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "stress.h"

namespace {

using vole_test::dice;

VOLE_STRESS(LockOsThreadStress);

long thread_id() { return ::syscall(SYS_gettid); }

void locked_life(dice d, std::atomic<int>& wrong) {
  vole::lock_os_thread();
  const long mine = thread_id();
  for (std::uint32_t i = d.below(20); i > 0; --i) {
    switch (d.below(3)) {
      case 0: vole::yield(); break;
      case 1: vole::spawn([] { vole::yield(); }).join(); break;
      default:
        vole::spawn([mine, &wrong] {
          if (thread_id() == mine) ++wrong;
        }).join();
    }
    if (thread_id() != mine) ++wrong;
  }
  if (d.below(2) == 0) vole::unlock_os_thread();  // otherwise the thread ends with us
}

TEST_P(LockOsThreadStress, KeepsThreadsInACrowd) {
  const vole_test::time_limit limit;
  std::atomic<int> wrong{0};
  vole::run([&] {
    for (std::uint64_t round = 0; !limit.over(); ++round) {
      dice d(round);
      vole::wait_group done;
      for (int i = 0; i < 10; ++i) {
        done.go([life = dice(d.fork()), &wrong] { locked_life(life, wrong); });
        done.go([yields = d.below(20)] {
          for (std::uint32_t k = 0; k < yields; ++k) vole::yield();
        });
      }
      if (d.below(4) == 0) vole::set_max_procs(1 + static_cast<int>(d.below(8)));
      done.wait();
    }
  });
  EXPECT_EQ(wrong, 0);

  expect_clean();
}

}  // namespace
