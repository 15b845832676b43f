// Waits in vole/sync.h that a context ends, and the locks that give up in time.
//
// Note   on a busy machine a wait may be long, never short: the tests wait hours for
//        what must come, and micro- or milliseconds for what cannot.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "fixture.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::context;
using vole::errc;
using vole_test::wait_until_parked;

class SyncContext : public vole_test::Runtime {
 protected:
  // On a goroutine, and on a plain thread beside one.
  template <class F>
  void on_both(F body) {
    run([&] {
      body();
      std::thread(body).join();
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Ps, SyncContext, testing::Values(1, 2, 4, 64), vole_test::procs_name);

// Everything that can be had, waited for with a context or until a time, and given back.
struct kind {
  const char* why;  // a parked goroutine's
  std::function<bool(const context&, std::error_code&)> take;
  std::function<bool(vole::duration)> take_for;
  std::function<void(const context&)> take_or_throw;
  std::function<bool()> try_take;
  std::function<void()> give;
};

struct objects {
  vole::mutex m;
  vole::shared_mutex s, r;
  vole::semaphore permits{1};

  std::vector<kind> kinds() {
    return {
        {"mutex", [this](const context& c, std::error_code& e) { return m.lock(c, e); },
         [this](vole::duration d) { return m.try_lock_for(d); },
         [this](const context& c) { m.lock(c); }, [this] { return m.try_lock(); },
         [this] { m.unlock(); }},
        {"shared mutex (write)",
         [this](const context& c, std::error_code& e) { return s.lock(c, e); },
         [this](vole::duration d) { return s.try_lock_for(d); },
         [this](const context& c) { s.lock(c); }, [this] { return s.try_lock(); },
         [this] { s.unlock(); }},
        {"semaphore",
         [this](const context& c, std::error_code& e) { return permits.acquire(c, e); },
         [this](vole::duration d) { return permits.try_acquire_for(d); },
         [this](const context& c) { permits.acquire(c); }, [this] { return permits.try_acquire(); },
         [this] { permits.release(); }},
    };
  }
};

TEST_P(SyncContext, WhatIsFreeIsTakenUnlessTheContextIsCancelled) {
  on_both([] {
    objects o;
    for (kind& k : o.kinds()) {
      std::error_code error = std::make_error_code(std::errc::io_error);
      EXPECT_TRUE(k.take(context::background(), error)) << k.why;
      EXPECT_FALSE(error) << "cleared";
      k.give();
      auto [ctx, cancel] = vole::with_cancel(context::background());
      EXPECT_TRUE(k.take(ctx, error));
      EXPECT_FALSE(k.try_take()) << "it is ours";
      k.give();
      cancel();
      EXPECT_FALSE(k.take(ctx, error)) << "free or not";
      EXPECT_EQ(error, errc::canceled);
      EXPECT_EQ(error, std::errc::operation_canceled);
      EXPECT_THROW(k.take_or_throw(ctx), std::system_error);
      k.take_or_throw(context::background());
      k.give();
    }
  });
}

TEST_P(SyncContext, AContextEndsTheWait) {
  run([] {
    objects o;
    for (kind& k : o.kinds())
      for (const bool on_thread : {false, true}) {
        ASSERT_TRUE(k.try_take());
        auto [ctx, cancel] = vole::with_cancel(context::background());
        std::atomic<bool> ended{false};
        const auto wait = [&k, &ended, ctx = ctx] {
          std::error_code error;
          EXPECT_FALSE(k.take(ctx, error));
          EXPECT_EQ(error, errc::canceled);
          ended = true;
        };
        vole::wait_group all;
        std::thread plain;
        if (on_thread) {
          plain = std::thread(wait);
        } else {
          all.go(wait);
          wait_until_parked(1, k.why);
        }
        cancel();
        all.wait();
        if (on_thread) plain.join();
        EXPECT_TRUE(ended);
        k.give();
        EXPECT_TRUE(k.try_take()) << "who gave up has taken nothing";
        k.give();
      }
  });
}

TEST_P(SyncContext, ItsDeadlineEndsTheWaitNotEarlier) {
  on_both([] {
    objects o;
    for (kind& k : o.kinds()) {
      ASSERT_TRUE(k.try_take());
      const auto start = vole::now();
      auto [ctx, cancel] = vole::with_timeout(context::background(), 2ms);
      std::error_code error;
      EXPECT_FALSE(k.take(ctx, error));
      EXPECT_EQ(error, errc::deadline_exceeded);
      EXPECT_GE(vole::now() - start, 2ms);
      try {
        k.take_or_throw(ctx);
        ADD_FAILURE();
      } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), errc::deadline_exceeded);
      }
      k.give();
    }
  });
}

TEST_P(SyncContext, WhoIsServedInTimeHasIt) {
  run([] {
    objects o;
    for (kind& k : o.kinds())
      for (const bool on_thread : {false, true}) {
        ASSERT_TRUE(k.try_take());
        auto [ctx, cancel] = vole::with_timeout(context::background(), 1h);
        const auto wait = [&k, ctx = ctx] {
          std::error_code error;
          EXPECT_TRUE(k.take(ctx, error)) << k.why;
          k.give();
          EXPECT_TRUE(k.take_for(1h)) << k.why;
          k.give();
        };
        vole::wait_group all;
        std::thread plain;
        if (on_thread) {
          plain = std::thread(wait);
        } else {
          all.go(wait);
          wait_until_parked(1, k.why);
        }
        k.give();
        all.wait();
        if (on_thread) plain.join();
        cancel();
        EXPECT_TRUE(k.try_take());
        k.give();
      }
  });
}

// ── in time ──

TEST_P(SyncContext, LocksTimeOutNotEarlier) {
  on_both([] {
    objects o;
    for (kind& k : o.kinds()) {
      ASSERT_TRUE(k.try_take());
      for (const auto d : {1us, 200us, 2000us}) {
        const auto start = vole::now();
        EXPECT_FALSE(k.take_for(d)) << k.why;
        EXPECT_GE(vole::now() - start, d);
      }
      EXPECT_FALSE(k.take_for(0ns));
      EXPECT_FALSE(k.take_for(-1h));
      k.give();
      EXPECT_TRUE(k.take_for(0ns)) << "a time that is past only tries";
      k.give();
    }
  });
}

TEST_P(SyncContext, LocksAreTimedLockable) {
  on_both([] {
    vole::mutex m;
    vole::shared_mutex s;
    std::unique_lock first(m, 1ms);
    EXPECT_TRUE(first.owns_lock());
    std::unique_lock second(m, 1ms);
    EXPECT_FALSE(second.owns_lock());
    EXPECT_FALSE(second.try_lock_until(vole::now() + 1ms));
    EXPECT_FALSE(second.try_lock_until(std::chrono::system_clock::now() + 1ms)) << "any clock";
    EXPECT_FALSE(second.try_lock_for(std::chrono::duration<double>(0.001)));
    std::shared_lock one(s, 1ms);
    std::shared_lock two(s, vole::now() + 1ms);
    EXPECT_TRUE(one.owns_lock() && two.owns_lock());
    std::unique_lock writer(s, 1ms);
    EXPECT_FALSE(writer.owns_lock());
    one.unlock();
    two.unlock();
    EXPECT_TRUE(writer.try_lock_for(1h));
    std::shared_lock reader(s, 1ms);
    EXPECT_FALSE(reader.owns_lock());
    std::error_code error;
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1ms);
    EXPECT_FALSE(s.lock_shared(ctx, error));
    EXPECT_EQ(error, errc::deadline_exceeded);
    EXPECT_THROW(s.lock_shared(ctx), std::system_error);
    writer.unlock();
    s.lock_shared(context::background());
    s.unlock_shared();
    first.unlock();
    EXPECT_TRUE(second.try_lock_until(vole::time_point::max()));
  });
}

// ── those behind ──

TEST_P(SyncContext, WhoIsCancelledInFrontLetsTheOthersThrough) {
  run([] {
    vole::semaphore s(2);
    auto [ctx, cancel] = vole::with_cancel(context::background());
    vole::wait_group big, small;
    big.go([&s, ctx = ctx] {
      std::error_code error;
      EXPECT_FALSE(s.acquire(ctx, 3, error));
      EXPECT_EQ(error, errc::canceled);
    });
    wait_until_parked(1, "semaphore");
    small.go([&] { s.acquire(); });
    std::thread plain([&] { s.acquire(); });
    wait_until_parked(2, "semaphore");
    cancel();
    big.wait();
    small.wait();
    plain.join();
    EXPECT_FALSE(s.try_acquire()) << "both have gone, and nobody else";
  });
}

// A writer that waits keeps readers out; one that gives up does not.
TEST_P(SyncContext, AWriterThatGivesUpLetsTheReadersIn) {
  for (const bool by_clock : {false, true})
    run([by_clock] {
      vole::shared_mutex s;
      s.lock_shared();
      auto [ctx, cancel] = vole::with_cancel(context::background());
      vole::wait_group all;
      std::atomic<bool> gave_up{false};
      all.go([&, ctx = ctx] {
        std::error_code error;
        EXPECT_FALSE(by_clock ? s.try_lock_for(5ms) : s.lock(ctx, error));
        gave_up = true;
      });
      if (!by_clock) wait_until_parked(1, "shared mutex (write)");
      all.go([&] {
        s.lock_shared();
        s.unlock_shared();
      });
      std::thread plain([&] {
        s.lock_shared();
        s.unlock_shared();
      });
      if (!by_clock) wait_until_parked(1, "shared mutex (read)");
      if (!by_clock) cancel();
      all.wait();
      plain.join();
      EXPECT_TRUE(gave_up);
      s.unlock_shared();
      EXPECT_TRUE(s.try_lock());
      s.unlock();
    });
}

// ── wait_group ──

TEST_P(SyncContext, AContextEndsTheWaitForAGroup) {
  run([] {
    for (const bool on_thread : {false, true}) {
      vole::wait_group work;
      work.add(2);
      auto [ctx, cancel] = vole::with_cancel(context::background());
      const auto wait = [&work, ctx = ctx] {
        std::error_code error;
        EXPECT_FALSE(work.wait(ctx, error));
        EXPECT_EQ(error, errc::canceled);
        EXPECT_THROW(work.wait(ctx), std::system_error) << "cancelled before";
      };
      vole::wait_group all;
      std::thread plain;
      if (on_thread) {
        plain = std::thread(wait);
      } else {
        all.go(wait);
        wait_until_parked(1, "wait group");
      }
      cancel();
      all.wait();
      if (on_thread) plain.join();
      vole::go([&work] { work.done(); });
      work.done();
      work.wait();
    }
  });
}

TEST_P(SyncContext, AGroupThatIsDoneIsNotWaitedFor) {
  on_both([] {
    vole::wait_group work;
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1h);
    std::error_code error = std::make_error_code(std::errc::io_error);
    EXPECT_TRUE(work.wait(ctx, error));
    EXPECT_FALSE(error) << "cleared";
    work.go([] { vole::yield(); });
    EXPECT_TRUE(work.wait(ctx, error));
    work.go([] {});
    work.wait(ctx);
    work.wait(context::background());
  });
}

// ── condition_variable ──

TEST_P(SyncContext, AContextEndsTheWaitForANotify) {
  run([] {
    for (const bool on_thread : {false, true}) {
      vole::mutex m;
      vole::condition_variable changed;
      auto [ctx, cancel] = vole::with_cancel(context::background());
      std::atomic<bool> waits{false};
      const auto wait = [&, ctx = ctx] {
        std::unique_lock lock(m);
        waits = true;
        std::error_code error;
        EXPECT_FALSE(changed.wait(lock, ctx, error));
        EXPECT_EQ(error, errc::canceled);
        EXPECT_TRUE(lock.owns_lock());
        EXPECT_FALSE(m.try_lock()) << "it is locked again";
        EXPECT_THROW(changed.wait(lock, ctx), std::system_error) << "cancelled before";
        EXPECT_THROW(changed.wait(lock, ctx, [] { return false; }), std::system_error);
        changed.wait(lock, ctx, [] { return true; });
        EXPECT_TRUE(changed.wait(lock, ctx, [] { return true; }, error));
        EXPECT_FALSE(error) << "cleared";
      };
      vole::wait_group all;
      std::thread plain;
      on_thread ? void(plain = std::thread(wait)) : all.go(wait);
      while (!waits) vole::yield();
      { const std::lock_guard behind_it(m); }  // it has queued
      cancel();
      all.wait();
      if (on_thread) plain.join();
    }
  });
}

TEST_P(SyncContext, WhoIsNotifiedInTimeGoesOn) {
  run([] {
    vole::mutex m;
    vole::condition_variable changed;
    int n = 0;
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1h);
    const auto wait = [&, ctx = ctx] {
      std::unique_lock lock(m);
      changed.wait(lock, ctx, [&] { return n != 0; });
      std::error_code error;
      while (n == 1) EXPECT_TRUE(changed.wait(lock, ctx, error));
      EXPECT_FALSE(error);
    };
    vole::wait_group all;
    all.go(wait);
    std::thread plain(wait);
    for (int i = 1; i <= 2; ++i) {
      vole::yield();
      const std::lock_guard lock(m);
      n = i;
      changed.notify_all();
    }
    all.wait();
    plain.join();
  });
}

// ── the end ──

TEST_P(SyncContext, WaitersAreAbandonedWithTheRuntime) {
  objects o;
  auto [ctx, cancel] = vole::with_cancel(context::background());
  for (kind& k : o.kinds()) {
    ASSERT_TRUE(k.try_take());
    vole::set_max_procs(procs());
    vole::run([&k, ctx = ctx] {
      for (int i = 0; i < 5; ++i) {
        vole::go([&k, &ctx] {
          std::error_code error;
          (void)k.take(ctx, error);
        });
        vole::go([&k] { (void)k.take_for(1h); });
      }
      wait_until_parked(10, k.why);
    });
    EXPECT_FALSE(k.try_take());
    k.give();
    EXPECT_TRUE(k.try_take()) << "a dead goroutine still waits";
    k.give();
  }
  cancel();
  vole::shutdown();
}

// A plain thread behind goroutines that are abandoned, perhaps just as they are being served.
TEST_P(SyncContext, AThreadBehindTheAbandonedGoesOn) {
  for (int round = 0; round < 20; ++round) {
    objects o;
    for (kind& k : o.kinds()) {
      ASSERT_TRUE(k.try_take());
      auto [ctx, cancel] = vole::with_cancel(context::background());
      std::thread plain, giver;
      std::atomic<bool> go{false};
      vole::set_max_procs(procs());
      vole::run([&, ctx = ctx] {
        for (int i = 0; i < 3; ++i)
          vole::go([&k, &ctx, i] {  // what it owned would be lost with it
            std::error_code error;
            if (i % 2 == 0 ? k.take(ctx, error) : k.take_for(1h)) k.give();
          });
        wait_until_parked(3, k.why);
        plain = std::thread([&k, ctx] {
          std::error_code error;
          if (k.take(ctx, error)) k.give();
        });
        giver = std::thread([&] {
          while (!go) std::this_thread::yield();
          k.give();
        });
        go = true;
      });
      // What a goroutine was handed before it ended is lost with it, by contract; a cancel ends
      // the wait all the same.
      cancel();
      plain.join();
      giver.join();
      vole::shutdown();
    }
  }
}

}  // namespace
