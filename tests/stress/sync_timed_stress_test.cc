// Timed waits in vole/sync.h against the notify or the release that comes at the same moment, on
// goroutines and plain threads.
//
// Note   waits are drawn from around the time that the other side takes, so that both
//        outcomes are frequent.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "everywhere.h"
#include "stress.h"

namespace {

using namespace std::chrono_literals;
using std::cv_status;
using vole_test::dice;
using vole_test::everywhere;

VOLE_STRESS(SyncTimedStress);

vole::duration short_time(dice& d) { return vole::duration(d.below(100'000)); }

// A notify is sent only while a patient waiter stands in the queue whom no notify before it can
// have reached: so each must reach somebody, and those who gave up are nobody.
struct ledger {
  vole::mutex m;
  vole::condition_variable c;
  long patient = 0;  // inside wait()
  long sent = 0, received = 0;
  bool over = false;

  bool send_one() {
    const std::lock_guard hold(m);
    if (sent - received >= patient) return false;
    ++sent;
    c.notify_one();
    return true;
  }
  // True: notified.
  bool receive(dice& d, bool wait_for_ever) {
    std::unique_lock lock(m);
    if (over) return false;
    if (wait_for_ever) {
      ++patient;
      c.wait(lock);
      --patient;
    } else if (c.wait_for(lock, short_time(d)) == cv_status::timeout) {
      return false;
    }
    if (over) return false;
    ++received;
    EXPECT_LE(received, sent);
    return true;
  }
  bool all_received() {
    const std::lock_guard hold(m);
    return sent == received;
  }
  bool is_over() {
    const std::lock_guard hold(m);
    return over;
  }
};

TEST_P(SyncTimedStress, NoNotifyIsLostToOneWhoGaveUp) {
  ledger l;
  std::atomic<int> part{0};
  std::atomic<long> by_clock{0}, by_notify{0};
  everywhere(18, 5, 0, [&](dice d) {
    const int mine = part++;
    if (mine == 0) {
      for (const vole_test::time_limit limit; !limit.over();) {
        if (!l.send_one() || d.below(4) == 0) vole::yield();
      }
      EXPECT_TRUE(vole_test::eventually([&] {
        vole::yield();
        return l.all_received();
      })) << "lost: "
          << l.sent - l.received << " of " << l.sent;
      const std::lock_guard hold(l.m);
      l.over = true;
      return l.c.notify_all();
    }
    while (!l.is_over()) {
      const bool wait_for_ever = mine % 3 == 0;
      const bool notified = l.receive(d, wait_for_ever);
      if (!wait_for_ever) ++(notified ? by_notify : by_clock);
    }
  });
  EXPECT_EQ(l.sent, l.received);
  EXPECT_GT(by_clock + by_notify, 0);
  expect_clean();
}

// The thread that has notified all destroys it, clocks or no clocks.
TEST_P(SyncTimedStress, WhoHasNotifiedAllMayDestroyTheCondition) {
  for (const vole_test::time_limit limit; !limit.over();) {
    struct place {
      vole::mutex m;
      std::unique_ptr<vole::condition_variable> c = std::make_unique<vole::condition_variable>();
      int waiting = 0;
    } at;
    std::atomic<int> part{0};
    everywhere(6, 3, 100, [&](dice d) {
      if (part++ != 0) {
        std::unique_lock lock(at.m);
        ++at.waiting;
        vole::condition_variable& c = *at.c;
        if (d.below(4) == 0) {
          c.wait(lock);
        } else {
          c.wait_for(lock, short_time(d));
        }
        return;
      }
      for (;; vole::yield()) {
        const std::lock_guard hold(at.m);
        if (at.waiting < 8) continue;
        at.c->notify_all();
        at.c.reset();
        return;
      }
    });
  }
  expect_clean();
}

// Permits are neither lost nor doubled, and who waits for ever is not forgotten behind one who
// gave up.
TEST_P(SyncTimedStress, PermitsAreConserved) {
  constexpr int kPermits = 5;
  vole::semaphore s(kPermits);
  std::atomic<int> inside{0};
  std::atomic<long> got{0}, gave_up{0};
  const vole_test::time_limit limit;
  everywhere(20, 4, 200, [&](dice d) {
    while (got == 0 || !limit.over()) {
      const int n = 1 + static_cast<int>(d.below(kPermits));
      switch (d.below(4)) {
        case 0: s.acquire(n); break;
        case 1:
          if (!s.try_acquire(n)) continue;
          break;
        default:
          if (!s.try_acquire_for(short_time(d), n)) {
            ++gave_up;
            continue;
          }
      }
      EXPECT_LE(inside += n, kPermits);
      if (d.below(2) == 0) vole::sleep_for(short_time(d) / 8);
      inside -= n;
      ++got;
      const int first = static_cast<int>(d.below(static_cast<std::uint32_t>(n) + 1));
      s.release(first);
      s.release(n - first);
    }
  });
  EXPECT_TRUE(s.try_acquire(kPermits)) << "permits were lost";
  EXPECT_FALSE(s.try_acquire()) << "permits were made";
  EXPECT_GT(got, 0);
  expect_clean();
}

// One release and one deadline at the same moment, again and again.
TEST_P(SyncTimedStress, ReleaseAndDeadlineMeet) {
  const vole_test::time_limit limit;
  vole::run([&] {
    dice d(300);
    while (!limit.over()) {
      vole::semaphore s(0);
      const vole::time_point due = vole::now() + vole::duration(20'000 + d.below(100'000));
      auto releaser = vole::spawn([&s, due] {
        vole::sleep_until(due);
        s.release(2);
      });
      const bool got = s.try_acquire_until(due, 2);
      if (!got) {
        EXPECT_GE(vole::now(), due);
      }
      releaser.join();
      EXPECT_EQ(s.try_acquire(2), !got);
      EXPECT_FALSE(s.try_acquire());
    }
  });
  expect_clean();
}

// The runtime ends among waits that are just due; plain threads go on.
TEST_P(SyncTimedStress, TheEndMeetsTheDeadline) {
  const vole_test::time_limit limit;
  for (dice d(400); !limit.over();) {
    struct all {
      vole::mutex m;
      vole::condition_variable c;
      vole::semaphore s{2};
    };
    const auto o = std::make_unique<all>();
    vole::set_max_procs(procs());
    std::thread plain;
    vole::run([&] {
      for (std::uint32_t i = d.below(20); i > 0; --i)
        vole::go([raw = o.get(), mine = d.fork()] {
          for (dice own(mine);;) {
            if (raw->s.try_acquire_for(short_time(own), 1 + static_cast<int>(own.below(3))))
              raw->s.release();
            std::unique_lock lock(raw->m);
            raw->c.wait_for(lock, short_time(own));
            raw->c.notify_one();
          }
        });
      plain = std::thread([&s = o->s, mine = d.fork()] {
        dice own(mine);
        for (int i = 0; i < 4; ++i)
          if (s.try_acquire_for(short_time(own), 2)) s.release(2);
      });
      vole::sleep_for(short_time(d));
    });
    plain.join();
    ASSERT_EQ(vole::num_goroutines(), 0u);
  }
  allow_zombies();
  expect_clean();
}

}  // namespace
