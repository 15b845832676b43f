// condition_variable and semaphore with a deadline.
//
// Note   on a busy machine a wait may be long, never short: the tests wait hours for
//        what must come, and micro- or milliseconds for what cannot.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fixture.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using std::cv_status;
using vole_test::wait_until_parked;

class SyncTimed : public vole_test::Runtime {
 protected:
  // On a goroutine, on a plain thread beside one, and without any runtime.
  template <class F>
  void on_both(F body) {
    run([&] {
      body();
      std::thread(body).join();
    });
    std::thread(body).join();
  }
};
INSTANTIATE_TEST_SUITE_P(Ps, SyncTimed, testing::Values(1, 2, 4, 64), vole_test::procs_name);

const vole::time_point kPast[] = {vole::time_point::min(), vole::time_point(),
                                  std::chrono::steady_clock::now()};
constexpr vole::duration kNoTime[] = {0ns, -1ns, -1h, vole::duration::min()};
constexpr vole::duration kLong[] = {1h, vole::duration::max() - 1h, vole::duration::max()};

// ── condition_variable ──

TEST_P(SyncTimed, ConditionTimesOutNotEarlier) {
  on_both([] {
    vole::mutex m;
    vole::condition_variable c;
    std::unique_lock lock(m);
    for (const auto d : {1us, 200us, 2000us}) {
      auto start = vole::now();
      EXPECT_EQ(c.wait_for(lock, d), cv_status::timeout);
      EXPECT_GE(vole::now() - start, d);
      EXPECT_TRUE(lock.owns_lock());
      EXPECT_FALSE(m.try_lock()) << "locked again";
      start = vole::now();
      EXPECT_FALSE(c.wait_for(lock, d, [] { return false; }));
      EXPECT_GE(vole::now() - start, d);
      const vole::time_point until = vole::now() + d;
      EXPECT_EQ(c.wait_until(lock, until), cv_status::timeout);
      EXPECT_GE(vole::now(), until);
    }
  });
}

TEST_P(SyncTimed, ConditionWithAPastTimeOnlyLetsGoOfTheMutex) {
  on_both([] {
    vole::mutex m;
    vole::condition_variable c;
    std::unique_lock lock(m);
    for (const vole::time_point t : kPast) {
      EXPECT_EQ(c.wait_until(lock, t), cv_status::timeout);
      EXPECT_FALSE(c.wait_until(lock, t, [] { return false; }));
      EXPECT_TRUE(c.wait_until(lock, t, [] { return true; }));
    }
    for (const vole::duration d : kNoTime) {
      EXPECT_EQ(c.wait_for(lock, d), cv_status::timeout);
      EXPECT_FALSE(c.wait_for(lock, d, [] { return false; }));
      EXPECT_TRUE(c.wait_for(lock, d, [] { return true; }));
    }
    EXPECT_TRUE(lock.owns_lock());
    // A goroutine that polls like this lets others in.
    bool set = false;
    std::thread other([&] {
      const std::lock_guard hold(m);
      set = true;
    });
    while (!c.wait_for(lock, 0ns, [&] { return set; })) {
    }
    lock.unlock();
    other.join();
  });
}

TEST_P(SyncTimed, ConditionIsNotifiedInTime) {
  run([] {
    for (const vole::duration d : kLong) {
      vole::mutex m;
      vole::condition_variable c;
      int waiting = 0, woken = 0;
      const auto wait = [&] {
        std::unique_lock lock(m);
        ++waiting;
        EXPECT_EQ(c.wait_for(lock, d), cv_status::no_timeout);
        EXPECT_TRUE(c.wait_for(lock, d, [] { return true; })) << "nothing to wait for";
        ++woken;
      };
      vole::wait_group all;
      for (int i = 0; i < 4; ++i) all.go(wait);
      std::thread plain(wait);
      for (bool there = false; !there; vole::yield()) {
        const std::lock_guard hold(m);
        there = waiting == 5;
      }
      c.notify_one();
      c.notify_all();
      all.wait();
      plain.join();
      EXPECT_EQ(woken, 5);
    }
  });
}

TEST_P(SyncTimed, TimePointMaxIsNever) {
  run([] {
    vole::mutex m;
    vole::condition_variable c;
    vole::semaphore s(0);
    vole::wait_group done;
    done.go([&] {
      std::unique_lock lock(m);
      EXPECT_EQ(c.wait_until(lock, vole::time_point::max()), cv_status::no_timeout);
      EXPECT_TRUE(s.try_acquire_until(vole::time_point::max()));
    });
    wait_until_parked(1, "condition variable");
    c.notify_one();
    wait_until_parked(1, "semaphore");
    s.release();
    done.wait();
  });
}

TEST_P(SyncTimed, ANotifyPassesOverWhoGaveUp) {
  run([] {
    for (int round = 0; round < 10; ++round) {
      vole::mutex m;
      vole::condition_variable c;
      vole::wait_group give_up, gets_it;
      const auto impatient = [&] {
        std::unique_lock lock(m);
        EXPECT_EQ(c.wait_for(lock, 300us), cv_status::timeout);
      };
      give_up.go(impatient);
      gets_it.go([&] {
        std::unique_lock lock(m);
        c.wait(lock);
      });
      std::thread plain(impatient);
      give_up.wait();
      plain.join();
      wait_until_parked(1, "condition variable");
      c.notify_one();
      gets_it.wait();
    }
  });
}

// ── semaphore ──

TEST_P(SyncTimed, SemaphoreTimesOutNotEarlier) {
  on_both([] {
    vole::semaphore s(2);
    for (const auto d : {1us, 200us, 2000us}) {
      auto start = vole::now();
      EXPECT_FALSE(s.try_acquire_for(d, 3));
      EXPECT_GE(vole::now() - start, d);
      const vole::time_point until = vole::now() + d;
      EXPECT_FALSE(s.try_acquire_until(until, 3));
      EXPECT_GE(vole::now(), until);
    }
    EXPECT_TRUE(s.try_acquire(2)) << "who gave up has taken nothing";
  });
}

TEST_P(SyncTimed, SemaphoreWithAPastTimeOnlyTries) {
  on_both([] {
    vole::semaphore s(1);
    for (const vole::time_point t : kPast) {
      EXPECT_TRUE(s.try_acquire_until(t));
      EXPECT_FALSE(s.try_acquire_until(t));
      EXPECT_TRUE(s.try_acquire_until(t, 0));
      s.release();
    }
    for (const vole::duration d : kNoTime) {
      EXPECT_TRUE(s.try_acquire_for(d));
      EXPECT_FALSE(s.try_acquire_for(d));
      s.release();
    }
  });
}

TEST_P(SyncTimed, SemaphoreIsReleasedInTime) {
  run([] {
    for (const vole::duration d : kLong) {
      vole::semaphore s(0);
      std::atomic<int> got{0};
      vole::wait_group all;
      const auto acquire = [&] {
        EXPECT_TRUE(s.try_acquire_for(d, 2));
        ++got;
      };
      for (int i = 0; i < 4; ++i) all.go(acquire);
      std::thread plain(acquire);
      wait_until_parked(4, "semaphore");
      s.release(3);
      s.release(7);
      all.wait();
      plain.join();
      EXPECT_EQ(got, 5);
      EXPECT_FALSE(s.try_acquire());
    }
  });
}

// The first in the queue wants too much; those behind it want what there is.
TEST_P(SyncTimed, WhoGivesUpInFrontLetsTheOthersThrough) {
  for (const bool on_thread : {false, true})
    run([on_thread] {
      vole::semaphore s(2);
      std::atomic<bool> gave_up{false};
      vole::wait_group all;
      const auto big = [&] {
        EXPECT_FALSE(s.try_acquire_for(20ms, 3));
        gave_up = true;
      };
      std::thread plain;
      on_thread ? void(plain = std::thread(big)) : all.go(big);
      while (!gave_up && s.try_acquire()) {
        s.release();
        vole::yield();
      }
      all.go([&] { s.acquire(); });
      std::thread beside([&] { s.acquire(); });
      all.wait();
      beside.join();
      if (plain.joinable()) plain.join();
      EXPECT_FALSE(s.try_acquire());
    });
}

// ── the end ──

TEST_P(SyncTimed, WaitersAreAbandonedWithTheRuntime) {
  vole::mutex m;
  vole::condition_variable c;
  vole::semaphore s(1);
  vole::run([&] {
    for (int i = 0; i < 10; ++i) {
      vole::go([&] {
        std::unique_lock lock(m);
        c.wait_for(lock, 1h);
      });
      vole::go([&] { (void)s.try_acquire_for(1h, 2); });
    }
    wait_until_parked(10, "condition variable");
    wait_until_parked(10, "semaphore");
  });
  EXPECT_TRUE(m.try_lock());
  m.unlock();
  EXPECT_TRUE(s.try_acquire()) << "a dead goroutine still waits";
  c.notify_all();
}

}  // namespace
