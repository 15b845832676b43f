// vole/sync.h under load: goroutines and plain threads together, seeded, at 1, 2, 4 and 64 Ps.
//
// Law    what a primitive protects is plain memory here: TSan sees every hole.
// Note   VOLE_TEST_SEED repeats a run.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "../api/fixture.h"
#include "base/rand.h"

namespace {

constexpr int kScale = vole_test::kSanitized ? 1 : 5;

std::uint64_t seed() {
  static const std::uint64_t chosen = [] {
    const char* const given = std::getenv("VOLE_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10)
                            : static_cast<std::uint64_t>(
                                  std::chrono::steady_clock::now().time_since_epoch().count());
  }();
  return chosen;
}

class SyncStress : public vole_test::Runtime {
 protected:
  void SetUp() override {
    RecordProperty("seed", std::to_string(seed()));
    Runtime::SetUp();
    begun_ = std::chrono::steady_clock::now();
  }
  void TearDown() override {
    Runtime::TearDown();
    if (HasFailure())
      std::fprintf(stderr, "VOLE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed()));
  }

  // So many rounds, times kScale; fewer on a machine where they take long.
  bool goes_on(int round, int most) const {
    const auto passed = std::chrono::steady_clock::now() - begun_;
    return round == 0 || (round < most * kScale && passed < std::chrono::seconds(3));
  }

  // work(random) on `goroutines` goroutines and `threads` plain threads at once, in a runtime.
  template <class Work>
  void everywhere(int goroutines, int threads, Work work) {
    EXPECT_EQ(vole::run([&] {
                vole::wait_group all;
                std::vector<std::thread> plain;
                std::uint64_t n = seed();
                for (int t = 0; t < threads; ++t)
                  plain.emplace_back([&work, mine = ++n] {
                    vole::base::rand_state r{mine};
                    work(r);
                  });
                for (int g = 0; g < goroutines; ++g)
                  all.go([&work, mine = ++n] {
                    vole::base::rand_state r{mine};
                    work(r);
                  });
                all.wait();
                for (std::thread& t : plain) t.join();
              }),
              0);
  }

 private:
  std::chrono::steady_clock::time_point begun_;
};
INSTANTIATE_TEST_SUITE_P(Ps, SyncStress, testing::Values(1, 2, 4, 64), vole_test::procs_name);

// What happens in the middle of a critical section.
void something(vole::base::rand_state& r) {
  switch (r.below(16)) {
    case 0: vole::yield(); break;
    case 1: std::this_thread::yield(); break;
    case 2: vole::checkpoint(); break;
    default: break;
  }
}

TEST_P(SyncStress, MutexExcludes) {
  vole::mutex m;
  long count = 0;
  std::atomic<long> wanted{0};
  everywhere(32, 3, [&](vole::base::rand_state& r) {
    for (int i = 0; i < 300 * kScale; ++i) {
      if (r.below(8) == 0) {
        if (!m.try_lock()) continue;
      } else {
        m.lock();
      }
      const long seen = count;
      something(r);
      count = seen + 1;
      m.unlock();
      ++wanted;
      if (r.below(32) == 0) vole::yield();
    }
  });
  EXPECT_EQ(count, wanted.load());
}

TEST_P(SyncStress, ManyMutexesTakenInOrder) {
  vole::mutex m[4];
  long count[4] = {};
  everywhere(16, 2, [&](vole::base::rand_state& r) {
    for (int i = 0; i < 200 * kScale; ++i) {
      const std::size_t a = r.below(4), b = r.below(4);
      if (a == b) continue;
      const std::scoped_lock both(m[a], m[b]);
      ++count[a];
      something(r);
      --count[b];
    }
  });
  EXPECT_EQ(count[0] + count[1] + count[2] + count[3], 0);
}

// Each of a chain of owners hands the object on by unlocking it; the last one destroys it.
TEST_P(SyncStress, TheLastOwnerDestroysTheMutex) {
  for (int round = 0; goes_on(round, 60); ++round) {
    struct shared {
      vole::mutex m;
      int left;
    };
    auto* const s = new shared{{}, 6};
    everywhere(4, 2, [s](vole::base::rand_state& r) {
      something(r);
      s->m.lock();
      const bool last = --s->left == 0;
      something(r);
      s->m.unlock();
      if (last) delete s;
    });
  }
}

TEST_P(SyncStress, TheLastOwnerDestroysTheSharedMutexAndTheSemaphore) {
  for (int round = 0; goes_on(round, 60); ++round) {
    struct shared {
      vole::shared_mutex m;
      vole::semaphore s{1};
      std::atomic<int> left{6};
    };
    auto* const o = new shared;
    // The last one that leaves knows that all others have been released by their unlock.
    everywhere(4, 2, [o](vole::base::rand_state& r) {
      something(r);
      if (r.below(2) == 0) {
        const std::shared_lock hold(o->m);
        something(r);
      } else {
        const std::unique_lock hold(o->m);
        something(r);
      }
      o->s.acquire();
      const bool last = --o->left == 0;
      o->s.release();
      if (last) delete o;
    });
  }
}

// Five waiters beside one hog that never lets go for longer than an instant.
TEST_P(SyncStress, AHogDoesNotStarveTheOthers) {
  vole::mutex m;
  std::atomic<int> waiters{5};
  std::atomic<long> hogged{0};
  everywhere(5, 1, [&](vole::base::rand_state& r) {
    if (vole::goroutine_id() == 0) {
      while (waiters.load() != 0) {
        const std::lock_guard hold(m);
        ++hogged;
      }
      return;
    }
    while (hogged == 0) vole::yield();
    for (int i = 0; i < 20; ++i) {
      const std::lock_guard hold(m);
      something(r);
    }
    --waiters;
  });
}

TEST_P(SyncStress, SharedMutexKeepsApart) {
  vole::shared_mutex m;
  long a = 0, b = 0;
  std::atomic<long> written{0};
  everywhere(24, 3, [&](vole::base::rand_state& r) {
    for (int i = 0; i < 200 * kScale; ++i) {
      switch (r.below(6)) {
        case 0: {
          const std::unique_lock hold(m, std::try_to_lock);
          if (!hold) break;
          ++a, ++b, ++written;
          break;
        }
        case 1: {
          const std::unique_lock hold(m);
          ++a;
          something(r);
          ++b, ++written;
          break;
        }
        case 2: {
          const std::shared_lock hold(m, std::try_to_lock);
          if (hold) {
            EXPECT_EQ(a, b);
          }
          break;
        }
        default: {
          const std::shared_lock hold(m);
          const long seen = a;
          something(r);
          EXPECT_EQ(seen, b);
        }
      }
    }
  });
  EXPECT_EQ(a, b);
  EXPECT_EQ(a, written.load());
}

// Tokens pass through a condition variable; none is lost, none doubled.
TEST_P(SyncStress, ConditionPassesEveryToken) {
  vole::mutex m;
  vole::condition_variable c;
  long tokens = 0, taken = 0;
  std::atomic<int> role{0};
  const int each = 300 * kScale;
  everywhere(20, 4, [&](vole::base::rand_state& r) {
    const bool gives = role++ % 2 == 0;
    for (int i = 0; i < each; ++i) {
      std::unique_lock lock(m);
      if (gives) {
        ++tokens;
        if (r.below(2) == 0) lock.unlock();  // notify inside or outside, both are right
        c.notify_one();
      } else {
        c.wait(lock, [&] { return tokens > 0; });
        --tokens;
        ++taken;
      }
    }
  });
  EXPECT_EQ(tokens, 0);
  EXPECT_EQ(taken, long{each} * 12);
}

// Rounds of everybody: who is in round n leaves it by the notify_all of round n.
TEST_P(SyncStress, ConditionGenerations) {
  vole::mutex m;
  vole::condition_variable c;
  int inside = 0;
  long round = 0;
  const int parties = 20;
  everywhere(parties - 3, 3, [&](vole::base::rand_state& r) {
    for (int i = 0; i < 50 * kScale; ++i) {
      std::unique_lock lock(m);
      const long mine = round;
      EXPECT_EQ(mine, i);
      if (++inside == parties) {
        inside = 0;
        ++round;
        c.notify_all();
      } else {
        c.wait(lock, [&] { return round != mine; });
      }
      lock.unlock();
      something(r);
    }
  });
}

// Waits that end by a notify, by a stop request, or by both at the same moment; requests come from
// goroutines and from plain threads.
TEST_P(SyncStress, NotifyStormWithStopTokens) {
  struct cell {
    vole::mutex m;
    vole::condition_variable c;
    std::stop_source stop;
    bool ready = false;
  };
  for (int round = 0; goes_on(round, 40); ++round) {
    std::vector<std::unique_ptr<cell>> cells;
    for (int i = 0; i < 8; ++i) cells.push_back(std::make_unique<cell>());
    std::atomic<int> part{0};
    everywhere(20, 4, [&](vole::base::rand_state& r) {
      const int mine = part++;
      cell& at = *cells[static_cast<std::size_t>(mine) / 3];
      something(r);
      switch (mine % 3) {
        case 0: {
          std::unique_lock lock(at.m);
          const bool got = at.c.wait(lock, at.stop.get_token(), [&] { return at.ready; });
          EXPECT_TRUE(lock.owns_lock());
          EXPECT_TRUE(got || at.stop.stop_requested());
          EXPECT_EQ(got, at.ready);
          break;
        }
        case 1: at.stop.request_stop(); break;
        default: {
          const std::lock_guard hold(at.m);
          at.ready = true;
          r.below(2) == 0 ? at.c.notify_one() : at.c.notify_all();
        }
      }
    });
  }
}

// One stop request ends many waits on one condition variable, while it is being notified.
TEST_P(SyncStress, OneStopRequestEndsAllWaits) {
  for (int round = 0; goes_on(round, 30); ++round) {
    vole::mutex m;
    vole::condition_variable c;
    std::stop_source stop;
    std::atomic<int> part{0}, ended{0};
    everywhere(14, 4, [&](vole::base::rand_state& r) {
      const int mine = part++;
      something(r);
      if (mine == 0) {
        stop.request_stop();
      } else if (mine <= 2) {
        while (ended < 15) {
          c.notify_all();
          vole::yield();
        }
      } else {
        std::unique_lock lock(m);
        EXPECT_FALSE(c.wait(lock, stop.get_token(), [] { return false; }));
        ++ended;
      }
    });
    EXPECT_EQ(ended.load(), 15);
  }
}

TEST_P(SyncStress, SemaphoreKeepsItsPermits) {
  vole::semaphore s(5);
  std::atomic<int> inside{0};
  everywhere(24, 3, [&](vole::base::rand_state& r) {
    for (int i = 0; i < 200 * kScale; ++i) {
      const int n = 1 + static_cast<int>(r.below(5));
      if (r.below(4) == 0) {
        if (!s.try_acquire(n)) continue;
      } else {
        s.acquire(n);
      }
      EXPECT_LE(inside += n, 5);
      something(r);
      inside -= n;
      if (n > 1 && r.below(2) == 0) {
        s.release(1);
        s.release(n - 1);
      } else {
        s.release(n);
      }
    }
  });
  EXPECT_TRUE(s.try_acquire(5));
}

TEST_P(SyncStress, OnceUnderExceptions) {
  for (int round = 0; goes_on(round, 60); ++round) {
    vole::once o;
    int made = 0;
    std::atomic<int> failures{0};
    everywhere(12, 3, [&](vole::base::rand_state& r) {
      try {
        o.call([&] {
          something(r);
          if (r.below(3) == 0) throw 1;
          ++made;
        });
        EXPECT_EQ(made, 1);
      } catch (int) {
        ++failures;
      }
    });
    EXPECT_LE(made, 1);
    if (made == 0) {
      EXPECT_EQ(failures.load(), 15);
    }
  }
}

TEST_P(SyncStress, PoolAndLocalsTogether) {
  static vole::local<int> mine;
  std::atomic<int> made{0};
  vole::pool<std::unique_ptr<long>> p([&] {
    ++made;
    return std::make_unique<long>(0);
  });
  everywhere(24, 3, [&](vole::base::rand_state& r) {
    for (int i = 0; i < 200 * kScale; ++i) {
      EXPECT_EQ((*mine)++, i);
      auto v = p.get();
      ++*v;
      something(r);
      p.put(std::move(v));
    }
  });
  long sum = 0;
  for (int i = made; i > 0; --i) sum += *p.get();
  EXPECT_EQ(sum, 27L * 200 * kScale);
}

// Main returns while everything is contended: nothing crashes, and the objects may be destroyed.
TEST_P(SyncStress, TheRuntimeEndsUnderContention) {
  for (int round = 0; goes_on(round, 10); ++round) {
    struct all {
      vole::mutex m;
      vole::shared_mutex rw;
      vole::condition_variable c;
      vole::semaphore s{2};
    };
    auto o = std::make_unique<all>();
    const int zombies = vole::stats().zombie_threads;
    std::atomic<int> at_work{0};
    vole::run([&] {
      for (int g = 0; g < 30; ++g)
        vole::go([raw = o.get(), &at_work, g] {
          vole::base::rand_state r{seed() + static_cast<std::uint64_t>(g)};
          ++at_work;
          for (;;) {
            switch (r.below(4)) {
              case 0: {
                const std::lock_guard hold(raw->m);
                something(r);
                break;
              }
              case 1: {
                const std::shared_lock hold(raw->rw);
                something(r);
                break;
              }
              case 2: {
                const std::unique_lock hold(raw->rw);
                something(r);
                break;
              }
              default: {
                raw->s.acquire(1 + static_cast<int>(r.below(2)));
                raw->s.release(1);
                std::unique_lock lock(raw->m);
                raw->c.notify_one();
                if (r.below(4) == 0) raw->c.wait(lock);
              }
            }
            vole::yield();
          }
        });
      while (at_work < 30) vole::yield();
      for (int i = 0; i < 20; ++i) vole::yield();
    });
    if (vole::stats().zombie_threads != zombies) (void)o.release();  // one may still look at it
  }
  allow_zombies();
}

}  // namespace
