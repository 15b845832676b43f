// A goroutine that blocks its thread, or never yields, loses its P and runs on without.
//
// Note   nothing here asserts a time. What must go on is waited for by progress; a P
//        that is never taken shows as a test that runs into its limit.

#include <vole/vole.h>

#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

using namespace std::chrono_literals;

class Eviction : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Eviction);

// Loops that never enter the runtime, each with its own count, until the party is over.
class hogs {
 public:
  explicit hogs(int n) : turns_(static_cast<std::size_t>(n)) {
    for (std::atomic<long>& t : turns_)
      gone_.go([this, &t] {
        while (!stop_.load(std::memory_order_relaxed)) t.fetch_add(1, std::memory_order_relaxed);
      });
  }
  ~hogs() {
    stop_ = true;
    gone_.wait();
  }
  // Every one of them has gone on since `before`, or since its start.
  bool all_moved(const std::vector<long>& before) const {
    for (std::size_t i = 0; i < turns_.size(); ++i)
      if (turns_[i] <= (before.empty() ? 0 : before[i])) return false;
    return true;
  }
  std::vector<long> counts() const { return {turns_.begin(), turns_.end()}; }

 private:
  std::vector<std::atomic<long>> turns_;
  std::atomic<bool> stop_{false};
  vole::wait_group gone_;
};

void sleep_until(const std::function<bool()>& held) {
  while (!held()) vole::sleep_for(1ms);
}

TEST_P(Eviction, EndlessLoopsOnEveryPDoNotStopTheRest) {  // [27] [30]
  run([this] {
    const hogs busy(procs());
    for (int i = 0; i < 20; ++i) vole::sleep_for(1ms);
    vole::chan<int> there, back;
    vole::wait_group echo;
    echo.go([=] {
      for (const int v : there) back.send(v);
    });
    for (int i = 0; i < 1000; ++i) {
      there.send(i);
      EXPECT_EQ(back.recv(), i);
    }
    there.close();
    echo.wait();
  });
}

TEST_P(Eviction, LoopsMakeProgressHoweverManyThereAre) {  // [30]
  vole::run([] {
    for (const int n : {2, 16, 64}) {
      const hogs busy(n);
      sleep_until([&] { return busy.all_moved({}); });
      const std::vector<long> before = busy.counts();
      sleep_until([&] { return busy.all_moved(before); });
    }
  });
}

TEST_P(Eviction, IsCounted) {
  run([this] {
    const std::uint64_t before = vole::stats().evictions;
    const hogs busy(procs());
    sleep_until([&] {
      const vole::runtime_stats s = vole::stats();
      return s.evictions > before && s.hand_offs >= s.evictions;
    });
  });
}

// The thread is the goroutine's until its next suspension point.
TEST_P(Eviction, ThreadStaysTheSameWhileItRunsOn) {
  run([this] {
    std::atomic<bool> stop{false};
    vole::wait_group gone;
    const std::uint64_t before = vole::stats().evictions;
    for (int i = 0; i < procs(); ++i)
      gone.go([&] {
        static thread_local int mine = 0;
        const int* const at = &mine;
        const pid_t id = gettid();
        while (!stop) {
          if (at != &mine || id != gettid()) {
            ADD_FAILURE() << "moved to another thread";
            return;
          }
        }
      });
    sleep_until([&] { return vole::stats().evictions > before; });
    stop = true;
    gone.wait();
  });
}

// Computes for longer than any slice [27], by its own CPU clock.
void hog_past_a_slice() {
  const std::clock_t enough = CLOCKS_PER_SEC / 40;
  const auto used = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * CLOCKS_PER_SEC + t.tv_nsec * CLOCKS_PER_SEC / 1'000'000'000;
  };
  for (const auto begin = used(); used() - begin < enough;) {
  }
}

TEST_P(Eviction, LockedGoroutineComesBackToItsThread) {  // [24] [25]
  run([this] {
    vole::wait_group gone;
    for (int i = 0; i < procs() + 1; ++i)
      gone.go([] {
        vole::lock_os_thread();
        const pid_t id = gettid();
        for (int k = 0; k < 3; ++k) {
          hog_past_a_slice();
          vole::yield();
          EXPECT_EQ(gettid(), id);
        }
        vole::unlock_os_thread();
      });
    gone.wait();
  });
}

// ── locks that the scheduler knows nothing of ──

// Held by one who waits for a timer, wanted by more threads than there are Ps.
TEST_P(Eviction, StdMutexOfAParkedGoroutine) {  // [27]
  run([this] {
    std::mutex m;
    vole::chan<> held;
    vole::wait_group gone;
    int passed = 0;
    gone.go([&] {
      vole::lock_os_thread();  // who locks a std::mutex must unlock it on the same thread
      m.lock();
      held.close();
      vole::sleep_for(5ms);
      m.unlock();
      vole::unlock_os_thread();
    });
    held.recv();
    for (int i = 0; i < procs() + 3; ++i)
      gone.go([&] {
        const std::lock_guard hold(m);
        ++passed;
      });
    gone.wait();
    EXPECT_EQ(passed, procs() + 3);
  });
}

// Held by one who lost its P and computes until a goroutine that needs that P has run.
TEST_P(Eviction, StdMutexOfAnEvictedGoroutine) {  // [30]
  run([this] {
    std::mutex m;
    std::atomic<bool> helped{false};
    std::atomic<int> passed{0};
    vole::chan<> held;
    vole::wait_group gone;
    gone.go([&] {
      const std::lock_guard hold(m);
      held.close();
      while (!helped) {
      }
    });
    held.recv();
    for (int i = 0; i < procs() + 3; ++i)
      gone.go([&] {
        const std::lock_guard hold(m);
        ++passed;
      });
    gone.go([&] { helped = true; });
    gone.wait();
    EXPECT_EQ(passed, procs() + 3);
  });
}

TEST_P(Eviction, SpinlockOfAParkedGoroutine) {  // [30]
  run([this] {
    std::atomic_flag locked;
    vole::chan<> held;
    vole::wait_group gone;
    int passed = 0;
    gone.go([&] {
      locked.test_and_set(std::memory_order_acquire);
      held.close();
      vole::sleep_for(5ms);
      locked.clear(std::memory_order_release);
    });
    held.recv();
    for (int i = 0; i < procs() + 3; ++i)
      gone.go([&] {
        while (locked.test_and_set(std::memory_order_acquire)) {
        }
        ++passed;
        locked.clear(std::memory_order_release);
      });
    gone.wait();
    EXPECT_EQ(passed, procs() + 3);
  });
}

// ── calls that block ──

TEST_P(Eviction, ReadThatBlocksLetsTheWriterRun) {  // [23] [27]
  run([this] {
    std::vector<std::array<int, 2>> pipes(static_cast<std::size_t>(procs()) + 2);
    vole::wait_group gone;
    for (std::array<int, 2>& p : pipes) {
      ASSERT_EQ(pipe(p.data()), 0);
      gone.go([&p] {
        char c = 0;
        EXPECT_EQ(read(p[0], &c, 1), 1);
        EXPECT_EQ(c, 'x');
      });
    }
    for (int i = 0; i < 5; ++i) vole::sleep_for(1ms);
    for (const std::array<int, 2>& p : pipes) EXPECT_EQ(write(p[1], "x", 1), 1);
    gone.wait();
    for (const std::array<int, 2>& p : pipes) {
      close(p[0]);
      close(p[1]);
    }
  });
}

TEST_P(Eviction, JoinOfAThreadThatWaitsForAGoroutine) {  // [23]
  run([this] {
    vole::chan<int> answers;
    vole::wait_group gone;
    for (int i = 0; i < procs() + 1; ++i)
      gone.go([=] {
        int got = 0;
        std::thread t([&] { got = answers.recv().value_or(-1); });
        t.join();
        EXPECT_EQ(got, 7);
      });
    gone.go([=, n = procs() + 1] {
      for (int i = 0; i < n; ++i) answers.send(7);
    });
    gone.wait();
  });
}

// A stop takes all Ps, gives them back, and meets some that are away.
TEST_P(Eviction, WorldStopsBesideEvictedGoroutines) {  // [33]
  vole::run([this] {
    const hogs busy(2 * procs());
    for (int i = 0; i < 10; ++i) {
      vole::sleep_for(1ms);
      vole::set_max_procs(1 + i % 4);
    }
    sleep_until([&] { return busy.all_moved({}); });
  });
}

TEST_P(Eviction, DumpShowsIt) {
  run([this] {
    const hogs busy(procs());
    sleep_until([] {
      char* text = nullptr;
      std::size_t size = 0;
      std::FILE* const out = open_memstream(&text, &size);
      vole::dump_goroutines(out);
      std::fclose(out);
      const bool shown = std::string(text, size).find("[evicted") != std::string::npos;
      std::free(text);
      return shown;
    });
  });
}

}  // namespace
