// The runtime's threads: found again, passed on, put to sleep, and never more than needed.

#include <vole/vole.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

using vole_test::eventually;

class Threads : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Threads);

long thread_id() { return ::syscall(SYS_gettid); }

void linger(int steps) {
  for (std::atomic<int> left{steps}; left > 0; --left) {
  }
}

bool all_idle() {
  const vole::runtime_stats s = vole::stats();
  return s.idle_procs == s.procs && s.idle_threads == s.threads && s.spinning_threads == 0;
}

// As many threads as Ps, all asleep. On a plain thread.
void warm_up(int procs) {
  std::atomic<int> running{0};
  vole::wait_group done;
  for (int i = 0; i < procs; ++i)
    done.go([&running, procs] {
      ++running;
      while (running < procs) std::this_thread::yield();
    });
  done.wait();
}

TEST_P(Threads, AllAreIdleAfterTheWork) {  // [17] [19]
  for (int round = 0; round < 20; ++round) {
    vole::wait_group done;
    for (int i = 0; i < 100; ++i)
      done.go([] {
        vole::yield();
        vole::go([] { vole::yield(); });
      });
    done.wait();
    EXPECT_TRUE(eventually(all_idle))
        << vole::stats().idle_procs << " Ps, " << vole::stats().idle_threads << " threads";
  }
}

// The one that went to sleep last is the warmest: it is the first to be woken. Each wake-up starts
// one more to look around, so a few take turns; a queue would go round all sixteen.
TEST_P(Threads, LastInFirstOut) {  // [19]
  constexpr int kMany = 16;
  vole::set_max_procs(kMany);
  warm_up(kMany);
  ASSERT_TRUE(eventually(all_idle));
  ASSERT_GE(vole::stats().threads, kMany);
  std::set<long> used;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(eventually(all_idle));
    used.insert(vole::spawn([] { return thread_id(); }).join());
  }
  EXPECT_LE(used.size(), 6u);
}

TEST_P(Threads, AreReusedThousandsOfTimes) {  // [21]
  warm_up(procs());
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(800);
  int most = 0;
  for (int i = 0; i < 5000 && std::chrono::steady_clock::now() < until; ++i) {
    vole::wait_group done;
    for (int k = 0; k < 3; ++k) done.go([] { vole::yield(); });
    done.wait();
    most = std::max(most, vole::stats().threads);
  }
  // Those that have just given up their P may not be on the list yet when the next is wanted.
  EXPECT_LE(most, 2 * procs() + 30);
}

// A thread sleeps for seconds before it is one too many: bursts that follow each other find it.
TEST_P(Threads, AreKeptFromBurstToBurst) {
  constexpr int kBurst = 20;
  const auto begin = std::chrono::steady_clock::now();
  std::mutex guard;
  std::set<long> used;
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> inside{0};
    vole::wait_group done;
    for (int i = 0; i < kBurst; ++i)
      done.go([&] {
        vole::blocking([&] {
          ++inside;
          for (int seen; (seen = inside.load()) < kBurst;) inside.wait(seen);
          inside.notify_all();
        });
        const std::lock_guard<std::mutex> hold(guard);
        used.insert(thread_id());
      });
    done.wait();
  }
  if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(4))
    GTEST_SKIP() << "the machine is too busy: some may have slept for long enough";
  EXPECT_LE(used.size(), 3u * kBurst) << "threads were made for each burst";
}

// Work that comes just when the workers give up looking: somebody sees it.
TEST_P(Threads, GoingIdleMissesNothing) {  // [18]
  if (procs() == 1) GTEST_SKIP() << "needs a second P";
  run([] {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    for (int i = 0; std::chrono::steady_clock::now() < until; ++i) {
      std::atomic<bool> ran{false};
      vole::wait_group done;
      done.go([&] { ran = true; });
      // Main keeps its P. The last goroutine's M is on its way to sleep when the next one comes, a
      // little later each time.
      ASSERT_TRUE(eventually([&] { return ran.load(); })) << "round " << i;
      linger(i % 512);
      done.wait();
    }
  });
}

TEST_P(Threads, GoingIdleMissesNothingFromOutside) {  // [18]
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  for (int i = 0; std::chrono::steady_clock::now() < until; ++i) {
    std::atomic<bool> ran{false};
    vole::go([&] { ran = true; });
    ASSERT_TRUE(eventually([&] { return ran.load(); })) << "round " << i;
    linger(i % 512);
  }
}

// A locked thread that waits has no use for its P; those in the P's ring do.
TEST_P(Threads, WaitingLockedOneHandsItsPOn) {  // [22] [25]
  run([] {
    vole::lock_os_thread();
    const std::uint64_t before = vole::stats().hand_offs;
    for (int round = 0; round < 50; ++round) {
      vole::wait_group done;
      for (int i = 0; i < 20; ++i) done.go([] { vole::yield(); });
      done.go([] { vole::sleep_for(std::chrono::milliseconds(1)); });  // so that main must wait
      done.wait();
    }
    EXPECT_GT(vole::stats().hand_offs, before);
    vole::unlock_os_thread();
  });
}

TEST_P(Threads, PHandedOnWithoutWorkIsIdle) {  // [22]
  vole::wait_group gate, there, done;
  gate.add();
  for (int i = 0; i < 6; ++i) {
    there.add();
    done.go([&] {
      vole::lock_os_thread();
      there.done();
      gate.wait();
      vole::unlock_os_thread();
    });
  }
  there.wait();
  EXPECT_TRUE(eventually([] { return vole::stats().idle_procs == vole::stats().procs; }))
      << "six threads wait, and hold nothing";
  EXPECT_EQ(vole::spawn([] { return 5; }).join(), 5);
  gate.done();
  done.wait();
}

}  // namespace
