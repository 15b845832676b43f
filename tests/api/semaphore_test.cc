// semaphore: limits, order, hand-over.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "fixture.h"
#include "parked.h"

namespace {

class Semaphore : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, Semaphore, testing::Values(1, 2, 4, 64), vole_test::procs_name);

constinit vole::semaphore made_at_compile_time(3);

TEST_P(Semaphore, CountsPermits) {
  run([] {
    vole::semaphore& s = made_at_compile_time;
    s.acquire(2);
    EXPECT_FALSE(s.try_acquire(2));
    EXPECT_TRUE(s.try_acquire());
    EXPECT_FALSE(s.try_acquire());
    EXPECT_TRUE(s.try_acquire(0));
    s.acquire(0);
    s.release(0);
    s.release(3);
  });
}

TEST_P(Semaphore, NeverLetsMoreIn) {
  run([] {
    vole::semaphore s(3);
    std::atomic<int> inside{0}, most{0};
    const auto work = [&](int rounds) {
      for (int i = 0; i < rounds; ++i) {
        const int n = 1 + i % 3;
        s.acquire(n);
        const int now = inside += n;
        int seen = most;
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        if (i % 4 == 0) vole::yield();
        inside -= n;
        s.release(n);
      }
    };
    vole::wait_group all;
    std::vector<std::thread> threads;
    for (int g = 0; g < 12; ++g) all.go([&] { work(100); });
    for (int t = 0; t < 3; ++t) threads.emplace_back([&] { work(100); });
    all.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_LE(most.load(), 3);
    EXPECT_TRUE(s.try_acquire(3)) << "every permit is back";
  });
}

TEST_P(Semaphore, ABigRequestIsNotOvertaken) {
  run([] {
    vole::semaphore s(2);
    std::vector<int> order;  // under the hand-over: one after the other
    vole::wait_group all;
    s.acquire(2);
    all.go([&] {
      s.acquire(2);
      order.push_back(2);
      s.release(1);
    });
    vole_test::wait_until_parked(1, "semaphore");
    s.release(1);
    EXPECT_FALSE(s.try_acquire()) << "the one permit is spoken for";
    all.go([&] {
      s.acquire(1);
      order.push_back(1);
    });
    vole_test::wait_until_parked(2, "semaphore");
    EXPECT_TRUE(order.empty());
    s.release(1);
    all.wait();
    EXPECT_EQ(order, (std::vector<int>{2, 1}));
    EXPECT_FALSE(s.try_acquire());
    s.release(1);
    EXPECT_TRUE(s.try_acquire());
  });
}

TEST_P(Semaphore, OneReleaseServesMany) {
  run([] {
    vole::semaphore s(0);
    std::atomic<int> served{0};
    vole::wait_group all;
    std::thread plain([&] {
      s.acquire(5);
      ++served;
    });
    for (int i = 0; i < 10; ++i)
      all.go([&] {
        s.acquire();
        ++served;
      });
    vole::yield();
    s.release(15);
    all.wait();
    plain.join();
    EXPECT_EQ(served.load(), 11);
    EXPECT_FALSE(s.try_acquire());
  });
}

TEST_P(Semaphore, AHogCannotOvertakeAWaiter) {
  run([] {
    vole::semaphore s(1);
    std::atomic<bool> stop{false};
    vole::wait_group hog;
    hog.go([&] {
      while (!stop) {
        s.acquire();
        vole::yield();
        s.release();
      }
    });
    for (int i = 0; i < 50; ++i) {
      s.acquire();
      vole::yield();
      s.release();
    }
    stop = true;
    hog.wait();
  });
}

TEST_P(Semaphore, WhoWasServedMayDestroyIt) {
  run([] {
    for (int round = 0; round < 200; ++round) {
      auto s = std::make_unique<vole::semaphore>(0);
      vole::wait_group done;
      done.go([&] {
        s->acquire();
        s.reset();
      });
      if (round % 2 == 0) vole::yield();
      vole::semaphore* const released = s.get();
      released->release();
      done.wait();
    }
  });
}

TEST_P(Semaphore, AbandonedRequestsLetPlainThreadsThrough) {
  vole::semaphore s(1);
  std::thread plain;
  vole::run([&] {
    vole::go([&] { s.acquire(2); });
    while (s.try_acquire()) {
      s.release();
      vole::yield();
    }
    plain = std::thread([&] { s.acquire(1); });
    for (int i = 0; i < 100; ++i) vole::yield();
  });
  plain.join();
  EXPECT_FALSE(s.try_acquire());
  s.release();
  EXPECT_TRUE(s.try_acquire());
}

TEST(SemaphoreDeathTest, NonsenseIsFatal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(vole::semaphore(-1), "vole: fatal: semaphore: a negative number");
  vole::semaphore s(2147483647);
  EXPECT_DEATH(s.acquire(-1), "vole: fatal: semaphore: a negative number");
  EXPECT_DEATH((void)s.try_acquire_for(std::chrono::hours(1), -1),
               "vole: fatal: semaphore: a negative number");
  EXPECT_DEATH(s.release(-1), "vole: fatal: semaphore: a negative number");
  EXPECT_DEATH(s.release(), "vole: fatal: semaphore: more than 2147483647");
}

}  // namespace
