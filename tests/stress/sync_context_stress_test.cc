// Locks and permits that are given up, by contexts and clocks, at the moment they are handed over;
// on goroutines and plain threads.
//
// Law    who is told that it has something has it alone; who is told that it has not, has nothing:
//        in the end everything is free, and those who wait for ever have all had it.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "everywhere.h"
#include "stress.h"

namespace {

using vole::context;
using vole_test::dice;
using vole_test::everywhere;

VOLE_STRESS(SyncContextStress);

vole::duration short_time(dice& d) { return vole::duration(d.below(60'000)); }

// take(ctx) with a context that ends by itself or is cancelled by somebody else, before, during
// or after.
template <class Take>
bool with_some_context(dice& d, Take take) {
  if (d.below(2) == 0) {
    auto [ctx, cancel] = vole::with_timeout(context::background(), short_time(d));
    return take(ctx);
  }
  auto [ctx, cancel] = vole::with_cancel(context::background());
  vole::wait_group other;
  other.go([&stop = cancel, yields = d.below(4)] {
    for (unsigned i = 0; i < yields; ++i) vole::yield();
    stop();
  });
  const bool taken = take(ctx);
  other.wait();
  return taken;
}

void dawdle(dice& d) {
  for (unsigned i = d.below(3); i != 0; --i) vole::yield();
}

TEST_P(SyncContextStress, AMutexIsHeldByOneAndInTheEndByNobody) {
  vole::mutex m;
  long plain = 0;  // the mutex guards it
  std::atomic<long> taken{0}, given_up{0};
  everywhere(16, 4, 0, [&](dice d) {
    for (const vole_test::time_limit limit; !limit.over();) {
      bool ours = true;
      switch (d.below(4)) {
        case 0: m.lock(); break;
        case 1: ours = m.try_lock_for(short_time(d)); break;
        default:
          ours = with_some_context(d, [&m](const context& ctx) {
            std::error_code error;
            const bool locked = m.lock(ctx, error);
            EXPECT_NE(locked, static_cast<bool>(error));
            return locked;
          });
      }
      if (!ours) {
        ++given_up;
        continue;
      }
      const long before = plain;
      dawdle(d);
      EXPECT_EQ(plain, before);
      plain = before + 1;
      ++taken;
      m.unlock();
    }
  });
  EXPECT_EQ(plain, taken);
  EXPECT_GT(taken, 0);
  EXPECT_TRUE(m.try_lock());
  m.unlock();
  expect_clean();
}

TEST_P(SyncContextStress, ASharedMutexHasReadersOrAWriterAndInTheEndNobody) {
  vole::shared_mutex m;
  long plain = 0;
  std::atomic<long> readers{0}, writers{0}, taken{0};
  everywhere(16, 4, 100, [&](dice d) {
    for (const vole_test::time_limit limit; !limit.over();) {
      const bool writes = d.below(3) == 0;
      bool ours = true;
      switch (d.below(4)) {
        case 0: writes ? m.lock() : m.lock_shared(); break;
        case 1:
          ours = writes ? m.try_lock_for(short_time(d)) : m.try_lock_shared_for(short_time(d));
          break;
        default:
          ours = with_some_context(d, [&](const context& ctx) {
            std::error_code error;
            return writes ? m.lock(ctx, error) : m.lock_shared(ctx, error);
          });
      }
      if (!ours) continue;
      ++taken;
      if (writes) {
        EXPECT_EQ(++writers, 1);
        EXPECT_EQ(readers, 0);
        ++plain;
        dawdle(d);
        --writers;
        m.unlock();
      } else {
        ++readers;
        EXPECT_EQ(writers, 0);
        const long seen = plain;
        dawdle(d);
        EXPECT_EQ(plain, seen);
        --readers;
        m.unlock_shared();
      }
    }
  });
  EXPECT_GT(taken, 0);
  EXPECT_TRUE(m.try_lock());
  m.unlock();
  expect_clean();
}

TEST_P(SyncContextStress, PermitsAreNeitherLostNorMade) {
  constexpr std::int32_t kPermits = 5;
  vole::semaphore s(kPermits);
  std::atomic<std::int32_t> out{0};
  everywhere(16, 4, 200, [&](dice d) {
    for (const vole_test::time_limit limit; !limit.over();) {
      const auto n = static_cast<std::int32_t>(1 + d.below(kPermits));
      bool ours = true;
      switch (d.below(4)) {
        case 0: s.acquire(n); break;
        case 1: ours = s.try_acquire_for(short_time(d), n); break;
        default:
          ours = with_some_context(d, [&](const context& ctx) {
            std::error_code error;
            return s.acquire(ctx, n, error);
          });
      }
      if (!ours) continue;
      EXPECT_LE(out += n, kPermits);
      dawdle(d);
      out -= n;
      s.release(n);
    }
  });
  EXPECT_TRUE(s.try_acquire(kPermits)) << "some are lost";
  EXPECT_FALSE(s.try_acquire());
  expect_clean();
}

// The last user destroys it, given up or not: a waiter that gave up does not touch it afterwards.
TEST_P(SyncContextStress, WhoComesLastMayDestroyIt) {
  std::atomic<long> served{0}, given_up{0};
  everywhere(6, 2, 300, [&](dice d) {
    for (const vole_test::time_limit limit; !limit.over();) {
      auto s = std::make_unique<vole::semaphore>(0);
      auto m = std::make_unique<vole::mutex>();
      m->lock();
      vole::wait_group other;
      other.go([&s, &m, yields = d.below(3)] {
        for (unsigned i = 0; i < yields; ++i) vole::yield();
        m->unlock();
        s->release();
      });
      const bool locked = with_some_context(d, [&m](const context& ctx) {
        std::error_code error;
        return m->lock(ctx, error);
      });
      const bool got = with_some_context(d, [&s](const context& ctx) {
        std::error_code error;
        return s->acquire(ctx, error);
      });
      if (!locked) m->lock();
      if (!got) s->acquire();
      ++(locked && got ? served : given_up);
      m->unlock();
      other.wait();
    }
  });
  EXPECT_GT(served + given_up, 0);
  expect_clean();
}

}  // namespace
