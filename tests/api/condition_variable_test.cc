// condition_variable: order, no stolen signals, stop requests.

#include <vole/vole.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

class Condition : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, Condition, testing::Values(1, 2, 4, 64), vole_test::procs_name);

constinit vole::condition_variable made_at_compile_time;

TEST_P(Condition, NotifyWithoutWaitersIsLost) {
  made_at_compile_time.notify_one();
  made_at_compile_time.notify_all();
}

TEST_P(Condition, NotifyOneWakesInTheOrderOfWaiting) {
  run([] {
    vole::mutex m;
    vole::condition_variable c;
    std::vector<int> order;
    int waiting = 0, turn = 0;
    vole::wait_group all;
    for (int g = 0; g < 10; ++g) {
      all.go([&, g] {
        std::unique_lock lock(m);
        ++waiting;
        c.wait(lock);
        order.push_back(g);
        ++turn;
      });
      for (;;) {  // m is free again only once it waits
        const std::lock_guard hold(m);
        if (waiting == g + 1) break;
        vole::yield();
      }
    }
    for (int g = 0; g < 10; ++g) {
      c.notify_one();
      for (;;) {
        {
          const std::lock_guard hold(m);
          if (turn == g + 1) break;
        }
        vole::yield();
      }
    }
    all.wait();
    for (int g = 0; g < 10; ++g) EXPECT_EQ(order[static_cast<std::size_t>(g)], g);
  });
}

TEST_P(Condition, NotifyAllWakesEverybodyOnce) {
  run([] {
    vole::mutex m;
    vole::condition_variable c;
    int waiting = 0, woken = 0;
    vole::wait_group all;
    std::vector<std::thread> threads;
    const auto wait = [&] {
      std::unique_lock lock(m);
      ++waiting;
      c.wait(lock);
      ++woken;
    };
    for (int g = 0; g < 50; ++g) all.go(wait);
    for (int t = 0; t < 4; ++t) threads.emplace_back(wait);
    for (;;) {
      {
        const std::lock_guard hold(m);
        if (waiting == 54) break;
      }
      vole::yield();
    }
    EXPECT_EQ(woken, 0);
    c.notify_all();
    all.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(woken, 54);
  });
}

// Go's cond generations: who waits after a notify never gets it instead of one who waited before.
TEST_P(Condition, ALaterWaiterDoesNotStealASignal) {
  run([] {
    vole::mutex m;
    vole::condition_variable c;
    std::size_t waiting = 0, notified = 0, done = 0;
    vole::wait_group all;
    const auto notify = [&] {
      const std::lock_guard hold(m);
      ++notified;
      c.notify_one();
    };
    for (std::size_t g = 0; g < 100; ++g) {
      all.go([&, g] {
        std::unique_lock lock(m);
        ++waiting;
        c.wait(lock);
        EXPECT_LT(g, notified) << "not its turn";
        ++done;
      });
      for (bool there = false; !there; vole::yield()) {
        const std::lock_guard hold(m);
        there = waiting == g + 1;
      }
      if (g >= 10) notify();  // ten generations wait at any time
    }
    for (int i = 0; i < 10; ++i) notify();
    all.wait();
    EXPECT_EQ(done, 100u);
  });
}

TEST_P(Condition, PredicateIsWaitedFor) {
  run([] {
    vole::mutex m;
    vole::condition_variable c;
    int value = 0;
    vole::wait_group done;
    done.go([&] {
      std::unique_lock lock(m);
      c.wait(lock, [&] { return value == 3; });
      EXPECT_TRUE(lock.owns_lock());
      EXPECT_EQ(value, 3);
    });
    for (int i = 1; i <= 3; ++i) {
      vole::yield();
      {
        const std::lock_guard hold(m);
        value = i;
      }
      c.notify_one();
    }
    done.wait();
  });
}

TEST_P(Condition, QueueOfProducersAndConsumersKeepsTheSum) {
  run([] {
    vole::mutex m;
    vole::condition_variable not_empty, not_full;
    std::deque<int> queue;
    std::atomic<long> sum{0};
    constexpr int kEach = 200, kSides = 6;
    const auto produce = [&] {
      for (int i = 1; i <= kEach; ++i) {
        std::unique_lock lock(m);
        not_full.wait(lock, [&] { return queue.size() < 4; });
        queue.push_back(i);
        not_empty.notify_one();
      }
    };
    const auto consume = [&] {
      for (int i = 0; i < kEach; ++i) {
        std::unique_lock lock(m);
        not_empty.wait(lock, [&] { return !queue.empty(); });
        sum += queue.front();
        queue.pop_front();
        lock.unlock();
        not_full.notify_one();
      }
    };
    vole::wait_group all;
    for (int i = 0; i < kSides - 1; ++i) {
      all.go(produce);
      all.go(consume);
    }
    std::thread producer(produce), consumer(consume);
    all.wait();
    producer.join();
    consumer.join();
    EXPECT_EQ(sum.load(), long{kSides} * kEach * (kEach + 1) / 2);
  });
}

TEST_P(Condition, StopRequestEndsAWait) {
  run([] {
    vole::mutex m;
    vole::condition_variable c;
    std::stop_source source;
    vole::wait_group done;
    bool reached = true;
    done.go([&] {
      std::unique_lock lock(m);
      reached = c.wait(lock, source.get_token(), [] { return false; });
      EXPECT_TRUE(lock.owns_lock());
    });
    for (int i = 0; i < 10; ++i) vole::yield();
    source.request_stop();
    done.wait();
    EXPECT_FALSE(reached);
  });
}

TEST_P(Condition, StopRequestUnderTheMutexDoesNotDeadlock) {
  run([] {
    vole::mutex m;
    vole::condition_variable c;
    std::stop_source source;
    vole::wait_group done;
    bool waiting = false;
    done.go([&] {
      std::unique_lock lock(m);
      waiting = true;
      EXPECT_FALSE(c.wait(lock, source.get_token(), [] { return false; }));
    });
    for (;;) {
      {
        const std::lock_guard hold(m);
        if (waiting) {
          source.request_stop();
          break;
        }
      }
      vole::yield();
    }
    done.wait();
  });
}

TEST_P(Condition, StopWaitReturnsThePredicate) {
  run([] {
    vole::mutex m;
    vole::condition_variable c;
    std::stop_source source;
    std::unique_lock lock(m);
    EXPECT_TRUE(c.wait(lock, source.get_token(), [] { return true; }));
    source.request_stop();
    EXPECT_TRUE(c.wait(lock, source.get_token(), [] { return true; }));
    EXPECT_FALSE(c.wait(lock, source.get_token(), [] { return false; }));
    EXPECT_TRUE(c.wait(lock, std::stop_token{}, [] { return true; })) << "a token without a source";
  });
}

TEST_P(Condition, StopFromAPlainThreadAndOnAPlainThread) {
  vole::mutex m;
  vole::condition_variable c;
  run([&] {
    std::stop_source source;
    vole::wait_group done;
    done.go([&] {
      std::unique_lock lock(m);
      EXPECT_FALSE(c.wait(lock, source.get_token(), [] { return false; }));
    });
    std::thread sleeper([&] {
      std::unique_lock lock(m);
      EXPECT_FALSE(c.wait(lock, source.get_token(), [] { return false; }));
    });
    vole::yield();
    std::thread([&] { source.request_stop(); }).join();
    done.wait();
    sleeper.join();
  });
  std::stop_source source;  // no runtime at all
  std::thread sleeper([&] {
    std::unique_lock lock(m);
    EXPECT_FALSE(c.wait(lock, source.get_token(), [] { return false; }));
  });
  source.request_stop();
  sleeper.join();
}

TEST_P(Condition, TheWokenMayDestroyIt) {
  run([] {
    for (int round = 0; round < 200; ++round) {
      auto m = std::make_unique<vole::mutex>();
      auto c = std::make_unique<vole::condition_variable>();
      bool ready = false;
      vole::wait_group done;
      done.go([&] {
        {
          std::unique_lock lock(*m);
          c->wait(lock, [&] { return ready; });
          c.reset();
        }
        m.reset();
      });
      vole::yield();
      vole::condition_variable* const notified = c.get();
      vole::mutex* const held = m.get();
      held->lock();
      ready = true;
      notified->notify_all();
      held->unlock();
      done.wait();
    }
  });
}

TEST_P(Condition, WaitersAreAbandonedWithTheRuntime) {
  vole::mutex m;
  vole::condition_variable c;
  std::atomic<int> waiting{0};
  vole::run([&] {
    for (int i = 0; i < 20; ++i)
      vole::go([&] {
        std::unique_lock lock(m);
        ++waiting;
        c.wait(lock);
      });
    while (waiting < 20) vole::yield();
    const std::lock_guard hold(m);
  });
  c.notify_all();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(ConditionDeathTest, WaitWithoutTheLockIsFatal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  vole::mutex m;
  vole::condition_variable c;
  std::unique_lock lock(m, std::defer_lock);
  EXPECT_DEATH(c.wait(lock), "vole: fatal: condition_variable: wait.. with a std::unique_lock");
}

}  // namespace
