// mutex: exclusion, hand-over, fairness, and that the standard's guards work on it.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "fixture.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;

class Mutex : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, Mutex, testing::Values(1, 2, 4, 64), vole_test::procs_name);

static_assert(std::is_nothrow_default_constructible_v<vole::mutex>);
static_assert(!std::is_move_constructible_v<vole::mutex> &&
              !std::is_copy_assignable_v<vole::mutex>);

constinit vole::mutex made_at_compile_time;

TEST_P(Mutex, LocksUnlocksAndTries) {
  run([] {
    const std::lock_guard hold(made_at_compile_time);
    EXPECT_FALSE(made_at_compile_time.try_lock());
  });
  EXPECT_TRUE(made_at_compile_time.try_lock());
  EXPECT_FALSE(made_at_compile_time.try_lock());
  made_at_compile_time.unlock();
}

TEST_P(Mutex, WorksWithTheStandardsGuards) {
  run([] {
    vole::mutex a, b;
    {
      const std::scoped_lock both(a, b);
      EXPECT_FALSE(a.try_lock());
      EXPECT_FALSE(b.try_lock());
    }
    std::unique_lock lock(a, std::try_to_lock);
    EXPECT_TRUE(lock.owns_lock());
    std::unique_lock second(a, std::defer_lock);
    EXPECT_FALSE(second.try_lock());
    lock.unlock();
    EXPECT_TRUE(second.try_lock());
  });
}

TEST_P(Mutex, GoroutinesExcludeEachOther) {
  run([] {
    vole::mutex m;
    long count = 0;
    vole::wait_group all;
    for (int g = 0; g < 32; ++g)
      all.go([&] {
        for (int i = 0; i < 200; ++i) {
          const std::lock_guard hold(m);
          const long seen = count;
          if (i % 16 == 0) vole::yield();  // an owner that parks, so that others queue
          count = seen + 1;
        }
      });
    all.wait();
    EXPECT_EQ(count, 32 * 200);
  });
}

TEST_P(Mutex, PlainThreadsAndGoroutinesExcludeEachOther) {
  run([] {
    vole::mutex m;
    long count = 0;
    const auto work = [&] {
      for (int i = 0; i < 300; ++i) {
        const std::lock_guard hold(m);
        const long seen = count;
        if (i % 32 == 0) vole::yield();
        count = seen + 1;
      }
    };
    vole::wait_group all;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back(work);
    for (int g = 0; g < 8; ++g) all.go(work);
    all.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(count, 12 * 300);
  });
}

TEST_P(Mutex, WorksWithoutARuntime) {
  vole::mutex m;
  long count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const std::lock_guard hold(m);
        ++count;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(count, 8000);
}

TEST_P(Mutex, MayBeUnlockedByAnotherGoroutine) {
  run([] {
    vole::mutex m;
    m.lock();
    vole::go([&] { m.unlock(); });
    m.lock();
    m.unlock();
  });
}

// A waiter that has waited for more than a millisecond gets the mutex though another locks it
// again and again, without ever parking.
TEST_P(Mutex, AHogCannotStarveAWaiter) {
  run([] {
    vole::mutex m;
    std::atomic<bool> stop{false};
    vole::wait_group hog;
    hog.go([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        m.lock();
        vole::checkpoint();  // at one P the waiter must get a chance to queue
        m.unlock();
      }
    });
    for (int i = 0; i < 10; ++i) {
      vole::yield();
      const std::lock_guard hold(m);
    }
    stop = true;
    hog.wait();
  });
}

TEST_P(Mutex, AHogCannotStarveAPlainThread) {
  run([] {
    vole::mutex m;
    std::atomic<bool> stop{false};
    std::thread waiter([&] {
      for (int i = 0; i < 10; ++i) {
        const std::lock_guard hold(m);
        std::this_thread::yield();
      }
      stop = true;
    });
    while (!stop.load(std::memory_order_relaxed)) {
      const std::lock_guard hold(m);
    }
    waiter.join();
  });
}

// In starving mode the mutex goes straight to the waiter: held all along, so try_lock fails.
TEST_P(Mutex, StarvingModeHandsOverInOrder) {
  run([] {
    vole::mutex m;
    std::vector<int> order;
    std::atomic<int> queued{0};
    vole::wait_group all;
    m.lock();
    for (int g = 0; g < 8; ++g) {
      all.go([&, g] {
        ++queued;
        const std::lock_guard hold(m);
        order.push_back(g);
      });
      while (queued <= g) vole::yield();
      vole::yield();
    }
    const auto until = std::chrono::steady_clock::now() + 3ms;
    while (std::chrono::steady_clock::now() < until) vole::yield();
    m.unlock();
    all.wait();
    EXPECT_EQ(order.size(), 8u);
  });
}

TEST_P(Mutex, TheNextOwnerMayDestroyIt) {
  run([] {
    for (int round = 0; round < 200; ++round) {
      auto m = std::make_unique<vole::mutex>();
      m->lock();
      vole::wait_group done;
      done.go([&] {
        m->lock();
        m->unlock();
        m.reset();
      });
      vole::yield();
      vole::mutex* const held = m.get();
      held->unlock();
      done.wait();
    }
  });
}

TEST_P(Mutex, WaitersAreAbandonedWithTheRuntime) {
  vole::mutex m;
  m.lock();
  run([&] {
    for (int i = 0; i < 20; ++i)
      vole::go([&] {
        m.lock();
        ADD_FAILURE() << "got a mutex that nobody unlocked";
      });
    vole_test::wait_until_parked(20, "mutex");
  });
  m.unlock();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

// A goroutine is woken to compete and then abandoned before it runs: the plain thread behind it in
// the queue must not wait for it.
TEST_P(Mutex, AWokenGoroutineThatIsAbandonedPassesItOn) {
  for (int round = 0; round < 20; ++round) {
    vole::mutex m;
    std::atomic<int> about_to_lock{0};
    std::thread plain;
    vole::run([&] {
      m.lock();
      vole::go([&] {
        ++about_to_lock;
        m.lock();
        m.unlock();
      });
      while (about_to_lock == 0) vole::yield();
      vole::yield();
      plain = std::thread([&] {
        ++about_to_lock;
        m.lock();
        m.unlock();
      });
      while (about_to_lock == 1) vole::yield();
      std::this_thread::yield();
      m.unlock();  // and main returns at once
    });
    plain.join();
  }
}

TEST(MutexDeathTest, UnlockOfAnUnlockedOneIsFatal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  vole::mutex m;
  EXPECT_DEATH(m.unlock(), "vole: fatal: mutex: unlock of an unlocked mutex");
  EXPECT_DEATH(vole::run([&] { m.unlock(); }), "vole: fatal: mutex: unlock of an unlocked mutex");
}

}  // namespace
