// sleep_for and sleep_until: never early, at once if the time is past, thousands at a time.
//
// Note   what may be late on a busy machine has limits of many seconds.

#include <vole/vole.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <random>
#include <thread>
#include <vector>

#include "fixture.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::now;
using vole_test::eventually;

class Time : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Time);

constexpr int kSleepers = vole_test::kSanitized ? 1000 : 10'000;

void expect_not_early(vole::duration d) {
  const vole::time_point due = now() + d;
  vole::sleep_for(d);
  EXPECT_GE(now(), due) << d.count() << " ns";
  const vole::time_point then = now() + d;
  vole::sleep_until(then);
  EXPECT_GE(now(), then) << d.count() << " ns";
}

// An hour each, if one of them were to wait.
void expect_past_is_at_once() {
  for (int i = 0; i < 1000; ++i) {
    vole::sleep_for(0s);
    vole::sleep_for(-1ns);
    vole::sleep_for(-1h);
    vole::sleep_for(vole::duration::min());
    vole::sleep_until(now());
    vole::sleep_until(now() - 1h);
    vole::sleep_until(vole::time_point{});
  }
}

TEST_P(Time, NeverEarly) {
  run([] {
    for (const vole::duration d : {vole::duration(1ns), vole::duration(1us), vole::duration(100us),
                                   vole::duration(1ms), vole::duration(7ms), vole::duration(20ms)})
      expect_not_early(d);
  });
}

TEST_P(Time, PastReturnsAtOnce) { run(expect_past_is_at_once); }

// As far back as can be said: the difference from now does not fit its type.
TEST_P(Time, TheEarliestTimeIsPast) {
  const auto at_once = [] {
    vole::sleep_until(vole::time_point::min());
    EXPECT_EQ(vole::chan<int>().recv_until(vole::time_point::min()).status,
              vole::chan_status::timeout);
  };
  run(at_once);
  at_once();
}

TEST_P(Time, OnAPlainThreadWithoutARuntime) {
  expect_past_is_at_once();
  expect_not_early(3ms);
  EXPECT_EQ(vole::stats().procs, 0) << "and starts none";
}

TEST_P(Time, OnAPlainThreadBesideTheRuntime) {
  run([] {
    vole::wait_group done;
    done.add();
    std::thread plain([&] {
      expect_past_is_at_once();
      expect_not_early(3ms);
      done.done();
    });
    done.wait();
    plain.join();
  });
}

TEST_P(Time, APlainThreadSleepsAcrossTheEnd) {
  std::atomic<bool> asleep{false};
  const vole::time_point due = now() + 60ms;
  std::thread plain;
  vole::run([&] {
    plain = std::thread([&] {
      asleep = true;
      vole::sleep_until(due);
      EXPECT_GE(now(), due);
    });
    eventually([&] { return asleep.load(); });
  });
  plain.join();
}

// Each is started at a random moment; the deadlines lie 2 ms apart.
TEST_P(Time, SleepersWakeInTheOrderOfTheirDeadlines) {
  run([] {
    constexpr std::size_t kMany = 60;
    std::vector<std::size_t> shuffled(kMany);
    for (std::size_t i = 0; i < kMany; ++i) shuffled[i] = i;
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
    std::vector<std::size_t> woken(kMany);
    std::atomic<std::size_t> place{0};
    std::atomic<bool> stalled{false};  // a machine that does not let us run
    vole::wait_group done;
    const vole::time_point start = now() + 20ms;
    for (const std::size_t i : shuffled)
      done.go([&, i] {
        const vole::time_point due = start + i * 2ms;
        vole::sleep_until(due);
        EXPECT_GE(now(), due);
        if (now() > due + 10ms) stalled = true;
        woken[place++] = i;
      });
    done.wait();
    // Several that are due at the same look may overtake each other by a little.
    std::size_t out_of_order = 0;
    for (std::size_t i = 1; i < kMany; ++i) out_of_order += woken[i] < woken[i - 1] ? 1 : 0;
    EXPECT_TRUE(stalled || out_of_order <= kMany / 4) << out_of_order;
  });
}

TEST_P(Time, TenThousandSleepAtOnce) {
  run([] {
    std::atomic<int> awake{0};
    vole::wait_group done;
    const vole::time_point start = now();
    for (int i = 0; i < kSleepers; ++i)
      done.go([&, i] {
        const vole::time_point due = now() + 50ms + i % 50 * 1ms;
        vole::sleep_until(due);
        EXPECT_GE(now(), due);
        ++awake;
      });
    done.wait();
    EXPECT_EQ(awake, kSleepers);
    EXPECT_LT(now() - start, 25s) << "they sleep together, not one after the other";
  });
}

TEST_P(Time, EqualDeadlines) {
  run([] {
    const vole::time_point due = now() + 10ms;
    vole::wait_group done;
    for (int i = 0; i < 500; ++i)
      done.go([due] {
        vole::sleep_until(due);
        EXPECT_GE(now(), due);
      });
    done.wait();
  });
}

TEST_P(Time, ASleeperNeedsNoPAndOthersRun) {
  run([] {
    std::atomic<bool> awake{false};
    std::atomic<long> steps{0};
    vole::wait_group done;
    done.go([&] {
      do {
        vole::sleep_for(5ms);
      } while (steps == 0);  // the other's thread may not have been let run
      awake = true;
    });
    for (; !awake; ++steps) vole::yield();  // busy yielders do not starve timers
    done.wait();
  });
}

TEST_P(Time, WakesBesideAHog) {
  if (procs() == 1) GTEST_SKIP() << "needs a P besides the hog's";
  run([] {
    for (int round = 0; round < 3; ++round) {
      std::atomic<bool> awake{false};
      vole::wait_group done;
      done.go([&] {
        vole::sleep_for(2ms);
        awake = true;
      });
      EXPECT_TRUE(eventually([&] { return awake.load(); }));  // without entering the runtime
      done.wait();
    }
  });
}

// The first deadline moves: each new sleeper is due before all the others.
TEST_P(Time, EarlierOnesAreNotLateForTheLater) {
  run([] {
    vole::wait_group done;
    vole::go([] { vole::sleep_for(1h); });
    vole::sleep_for(1ms);  // everything is idle, and waits for the late one
    const vole::time_point start = now();
    for (int i = 20; i > 0; --i) done.go([i] { vole::sleep_for(i * 1ms); });
    done.wait();
    EXPECT_LT(now() - start, 25s) << "they were due long before the hour was over";
  });
}

TEST_P(Time, SurvivesAChangeOfProcs) {  // [33]
  run([] {
    vole::wait_group done;
    for (int i = 0; i < 200; ++i) done.go([i] { expect_not_early(i % 20 * 1ms); });
    for (int n = 1; n < 8; ++n) {
      vole::set_max_procs(n);
      vole::sleep_for(2ms);
    }
    done.wait();
  });
}

// Each P has timers when all but one of them go.
TEST_P(Time, TimersOfAPThatGoesAreFired) {  // [33]
  run([this] {
    std::atomic<int> up{0}, over{0};
    vole::wait_group done;
    for (int i = 0; i < procs(); ++i)
      done.go([&] {
        ++up;
        while (up < procs()) std::this_thread::yield();
        vole::sleep_for(100ms);
        ++over;
      });
    const auto all = static_cast<std::size_t>(procs());
    while (over == 0 && vole_test::parked("sleep") < all) vole::sleep_for(1ms);
    vole::set_max_procs(1);
    done.wait();
  });
}

TEST_P(Time, ALockedSleeperKeepsItsThread) {  // [25]
  run([] {
    vole::lock_os_thread();
    const long mine = ::syscall(SYS_gettid);
    for (int i = 0; i < 10; ++i) {
      vole::sleep_for(1ms);
      ASSERT_EQ(::syscall(SYS_gettid), mine);
    }
    vole::unlock_os_thread();
  });
}

TEST_P(Time, SleepersAreAbandonedWithTheRuntime) {
  static std::atomic<int> woken;
  woken = 0;
  run([] {
    for (int i = 0; i < 500; ++i)
      vole::go([] {
        vole::sleep_for(1h);
        ++woken;
      });
    vole::go([] {
      vole::sleep_for(vole::duration::max());
      ++woken;
    });
    vole::go([] {
      vole::sleep_until(vole::time_point::max());
      ++woken;
    });
    vole::sleep_for(10ms);
  });
  EXPECT_EQ(woken, 0);
}

// Deadlines of a runtime that is gone pass while the next one sleeps: nobody is woken by them.
TEST_P(Time, DeadlinesEndWithTheirRuntime) {
  static std::atomic<int> woken;
  woken = 0;
  for (int round = 0; round < 5; ++round) {
    vole::run([] {
      std::atomic<int> asleep{0};
      for (int i = 0; i < 50; ++i)
        vole::go([&asleep] {
          const vole::time_point due = now() + 250ms;
          ++asleep;
          vole::sleep_until(due);
          ++woken;
        });
      while (asleep < 50) vole::yield();
    });
    EXPECT_EQ(vole::num_goroutines(), 0u);
  }
  const int before = woken;
  vole::run([] { expect_not_early(300ms); });
  EXPECT_EQ(woken, before);
}

}  // namespace
