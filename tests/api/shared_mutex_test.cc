// shared_mutex: readers together, writers alone, and neither starves the other.

#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "fixture.h"
#include "parked.h"

namespace {

class SharedMutex : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, SharedMutex, testing::Values(1, 2, 4, 64), vole_test::procs_name);

constinit vole::shared_mutex made_at_compile_time;

TEST_P(SharedMutex, ReadersShareAndWritersDoNot) {
  run([] {
    vole::shared_mutex& m = made_at_compile_time;
    {
      const std::shared_lock first(m);
      const std::shared_lock second(m, std::try_to_lock);
      EXPECT_TRUE(second.owns_lock());
      EXPECT_FALSE(m.try_lock());
    }
    {
      const std::unique_lock writer(m);
      EXPECT_FALSE(m.try_lock());
      EXPECT_FALSE(m.try_lock_shared());
    }
    EXPECT_TRUE(m.try_lock_shared());
    m.unlock_shared();
  });
}

TEST_P(SharedMutex, APendingWriterKeepsNewReadersOut) {
  run([] {
    vole::shared_mutex m;
    m.lock_shared();
    std::atomic<int> step{0};
    vole::wait_group all;
    all.go([&] {
      m.lock();
      EXPECT_EQ(step.exchange(1), 0);
      m.unlock();
    });
    while (m.try_lock_shared()) {  // until the writer has queued
      m.unlock_shared();
      vole::yield();
    }
    all.go([&] {
      m.lock_shared();
      EXPECT_EQ(step.load(), 1) << "a reader overtook the writer";
      m.unlock_shared();
    });
    vole_test::wait_until_parked(1, "shared mutex (read)");
    m.unlock_shared();
    all.wait();
  });
}

TEST_P(SharedMutex, UnlockLetsTheQueuedReadersGoBeforeTheNextWriter) {
  run([] {
    vole::shared_mutex m;
    std::atomic<int> readers{0};
    vole::wait_group all;
    m.lock();
    all.go([&] {
      m.lock();
      EXPECT_EQ(readers.load(), 5) << "the next writer came before the readers";
      m.unlock();
    });
    for (int i = 0; i < 5; ++i)
      all.go([&] {
        m.lock_shared();
        ++readers;
        m.unlock_shared();
      });
    vole_test::wait_until_parked(1, "shared mutex (write)");
    vole_test::wait_until_parked(5, "shared mutex (read)");
    m.unlock();
    all.wait();
  });
}

TEST_P(SharedMutex, KeepsReadersAndWritersApart) {
  run([] {
    vole::shared_mutex m;
    long a = 0, b = 0;
    const auto read = [&](int rounds) {
      for (int i = 0; i < rounds; ++i) {
        const std::shared_lock hold(m);
        const long seen = a;
        if (i % 16 == 0) vole::yield();
        EXPECT_EQ(seen, b);
        EXPECT_EQ(seen, a);
      }
    };
    const auto write = [&](int rounds) {
      for (int i = 0; i < rounds; ++i) {
        const std::unique_lock hold(m);
        ++a;
        if (i % 16 == 0) vole::yield();
        ++b;
      }
    };
    vole::wait_group all;
    std::vector<std::thread> threads;
    for (int g = 0; g < 12; ++g) all.go([&] { read(200); });
    for (int g = 0; g < 4; ++g) all.go([&] { write(100); });
    threads.emplace_back([&] { read(200); });
    threads.emplace_back([&] { write(100); });
    all.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(a, 500);
    EXPECT_EQ(b, 500);
  });
}

TEST_P(SharedMutex, AStreamOfReadersDoesNotStarveAWriter) {
  run([] {
    vole::shared_mutex m;
    std::atomic<bool> stop{false};
    vole::wait_group readers;
    for (int g = 0; g < 4; ++g)
      readers.go([&] {
        while (!stop) {
          const std::shared_lock hold(m);
          vole::yield();
        }
      });
    for (int i = 0; i < 20; ++i) {
      const std::unique_lock hold(m);
      vole::yield();
    }
    stop = true;
    readers.wait();
  });
}

TEST_P(SharedMutex, AStreamOfWritersDoesNotStarveAReader) {
  run([] {
    vole::shared_mutex m;
    std::atomic<bool> stop{false};
    vole::wait_group writers;
    for (int g = 0; g < 4; ++g)
      writers.go([&] {
        while (!stop) {
          const std::unique_lock hold(m);
          vole::yield();
        }
      });
    for (int i = 0; i < 20; ++i) {
      const std::shared_lock hold(m);
      vole::yield();
    }
    stop = true;
    writers.wait();
  });
}

TEST_P(SharedMutex, TheNextOwnerMayDestroyIt) {
  run([] {
    for (int round = 0; round < 200; ++round) {
      auto m = std::make_unique<vole::shared_mutex>();
      const bool shared = round % 2 == 0;
      shared ? m->lock_shared() : m->lock();
      vole::wait_group done;
      done.go([&] {
        m->lock();
        m->unlock();
        m.reset();
      });
      vole::yield();
      vole::shared_mutex* const held = m.get();
      shared ? held->unlock_shared() : held->unlock();
      done.wait();
    }
  });
}

// Writers that wait are abandoned with the runtime; a plain thread behind them goes on.
TEST_P(SharedMutex, AbandonedWritersLetPlainReadersIn) {
  vole::shared_mutex m;
  m.lock_shared();
  std::atomic<bool> in{false};
  std::thread reader;
  vole::run([&] {
    for (int i = 0; i < 5; ++i) vole::go([&] { m.lock(); });
    while (m.try_lock_shared()) {
      m.unlock_shared();
      vole::yield();
    }
    reader = std::thread([&] {
      m.lock_shared();
      in = true;
      m.unlock_shared();
    });
    for (int i = 0; i < 100; ++i) vole::yield();
    EXPECT_FALSE(in);
  });
  reader.join();
  m.unlock_shared();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(SharedMutexDeathTest, UnlockOfAnUnlockedOneIsFatal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  vole::shared_mutex m;
  EXPECT_DEATH(m.unlock(), "vole: fatal: shared_mutex: unlock of a mutex that is not locked");
  EXPECT_DEATH(m.unlock_shared(),
               "vole: fatal: shared_mutex: unlock_shared of a mutex that nobody");
  m.lock_shared();
  EXPECT_DEATH(m.unlock(), "vole: fatal: shared_mutex: unlock of a mutex that is not locked");
  m.unlock_shared();
}

}  // namespace
