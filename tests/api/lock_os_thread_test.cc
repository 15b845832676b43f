// lock_os_thread [25]: one goroutine, one thread, and everybody else goes on.

#include <vole/vole.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <set>
#include <vector>

#include "fixture.h"

namespace {

class LockOsThread : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(LockOsThread);

long thread_id() { return ::syscall(SYS_gettid); }

struct locked {
  locked() { vole::lock_os_thread(); }
  ~locked() { vole::unlock_os_thread(); }
};

TEST_P(LockOsThread, KeepsTheThreadAcrossYieldsAndWaits) {  // [25]
  run([] {
    vole::wait_group done;
    for (int i = 0; i < 4; ++i) {
      done.go([] {
        const locked here;
        const long mine = thread_id();
        for (int k = 0; k < 100; ++k) {
          vole::yield();
          ASSERT_EQ(thread_id(), mine);
          vole::spawn([] { vole::yield(); }).join();
          ASSERT_EQ(thread_id(), mine);
        }
      });
      done.go([] {
        for (int k = 0; k < 100; ++k) vole::yield();
      });
    }
    done.wait();
  });
}

TEST_P(LockOsThread, NobodyElseRunsOnALockedThread) {
  run([] {
    const locked here;
    const long mine = thread_id();
    vole::wait_group done;
    for (int i = 0; i < 200; ++i)
      done.go([mine] {
        EXPECT_NE(thread_id(), mine);
        vole::yield();
        EXPECT_NE(thread_id(), mine);
      });
    done.wait();
    EXPECT_EQ(thread_id(), mine);
  });
}

TEST_P(LockOsThread, NestsAndIgnoresExtraUnlocks) {
  run([] {
    vole::unlock_os_thread();  // not locked: nothing
    vole::lock_os_thread();
    vole::lock_os_thread();
    const long mine = thread_id();
    vole::unlock_os_thread();
    for (int i = 0; i < 50; ++i) {
      vole::spawn([mine] { EXPECT_NE(thread_id(), mine); }).join();
      ASSERT_EQ(thread_id(), mine) << "still locked once";
    }
    vole::unlock_os_thread();
    vole::unlock_os_thread();
    for (int i = 0; i < 50; ++i) vole::spawn([] { vole::yield(); }).join();
  });
  vole::lock_os_thread();  // on a plain thread: nothing
  vole::unlock_os_thread();
}

TEST_P(LockOsThread, ThreadEndsWithItsGoroutine) {  // [25]
  run([] {
    for (int i = 0; i < 20; ++i) {
      const long gone = vole::spawn([] {
                          vole::lock_os_thread();
                          return thread_id();
                        }).join();
      const std::string folder = "/proc/self/task/" + std::to_string(gone);
      EXPECT_TRUE(vole_test::eventually([&] {
        vole::yield();
        return !std::filesystem::exists(folder);
      })) << "thread " << gone << " lives on";
    }
  });
}

TEST_P(LockOsThread, ExitGoroutineWhileLockedEndsTheThreadToo) {
  run([] {
    for (int i = 0; i < 20; ++i) {
      vole::wait_group done;
      done.go([] {
        vole::lock_os_thread();
        vole::exit_goroutine();
      });
      done.wait();
    }
    EXPECT_EQ(vole::spawn([] { return 1; }).join(), 1);
  });
}

TEST_P(LockOsThread, TwoLockedOnesTakeTurnsByYielding) {
  run([] {
    std::atomic<int> turn{0};
    vole::wait_group done;
    for (int side = 0; side < 2; ++side)
      done.go([&turn, side] {
        const locked here;
        for (int i = 0; i < 300; ++i) {
          while (turn % 2 != side) vole::yield();
          ++turn;
        }
      });
    done.wait();
    EXPECT_EQ(turn, 600);
  });
}

TEST_P(LockOsThread, TwoLockedOnesTakeTurnsByWaiting) {
  run([] {
    constexpr std::size_t kRounds = 200;
    std::vector<vole::wait_group> balls(2 * kRounds);
    for (vole::wait_group& b : balls) b.add();
    vole::wait_group done;
    done.go([&] {
      const locked here;
      for (std::size_t i = 0; i < kRounds; ++i) {
        balls[2 * i].done();
        balls[2 * i + 1].wait();
      }
    });
    done.go([&] {
      const locked here;
      for (std::size_t i = 0; i < kRounds; ++i) {
        balls[2 * i].wait();
        balls[2 * i + 1].done();
      }
    });
    done.wait();
  });
}

TEST_P(LockOsThread, MainMayBeLocked) {
  run([] {
    vole::lock_os_thread();
    EXPECT_EQ(vole::spawn([] { return 4; }).join(), 4);
  });
}

}  // namespace
