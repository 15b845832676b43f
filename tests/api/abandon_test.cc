// Goroutines that are still alive when main returns: parked, queued, running, joined.
//
// Note   destructors of abandoned goroutines do not run, by contract; so nothing here
//        owns heap memory that only an abandoned stack knows.

#include <vole/vole.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

class Abandon : public vole_test::Runtime {
 protected:
  template <class Handle>
  static void expect_canceled(Handle& h) {
    try {
      h.join();
      ADD_FAILURE() << "join() gave a result";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), vole::errc::canceled);
      EXPECT_EQ(e.code(), std::errc::operation_canceled);
    }
  }
};
VOLE_AT_1_2_4_PROCS(Abandon);

struct says_when_destroyed {
  std::atomic<int>* count;
  ~says_when_destroyed() { ++*count; }
};

TEST_P(Abandon, ParkedOnesVanishWithoutDestructors) {
  static std::atomic<int> destroyed, parked;
  vole::wait_group never;
  never.add();
  run([&] {
    parked = destroyed = 0;
    for (int i = 0; i < 100; ++i)
      vole::go([&never] {
        const says_when_destroyed local{&destroyed};
        ++parked;
        never.wait();
      });
    while (parked < 100) vole::yield();
  });
  EXPECT_EQ(destroyed.load(), 0);
  never.done();
}

TEST_P(Abandon, QueuedOnesNeverStart) {
  run([] {
    for (int i = 0; i < 5000; ++i) vole::go([] {});
  });
  run([] {
    for (int i = 0; i < 1000; ++i) vole::go([big = std::array<char, 200>{}] { (void)big; });
  });
  run([] {
    for (int i = 0; i < 1000; ++i)
      vole::go({.name = "queued"}, [big = std::array<char, 200>{}] { (void)big; });
  });
}

TEST_P(Abandon, YieldersStopWhereverTheyAre) {
  run([] {
    for (int i = 0; i < 20; ++i)
      vole::go([] {
        for (;;) vole::yield();
      });
    for (int i = 0; i < 10; ++i) vole::yield();
  });
}

TEST_P(Abandon, JoinOfAParkedOneIsCanceled) {
  vole::wait_group never;
  never.add();
  vole::join_handle<int> h;
  EXPECT_EQ(vole::run([&] {
              h = vole::spawn([&never] {
                never.wait();
                return 1;
              });
              vole::yield();
              return 0;
            }),
            0);
  ASSERT_TRUE(h.joinable());
  expect_canceled(h);
  EXPECT_FALSE(h.joinable());
  never.done();
}

TEST_P(Abandon, JoinOfQueuedOnesIsCanceledOrTheirResult) {
  std::vector<vole::join_handle<int>> handles;
  handles.reserve(1000);
  vole::run([&] {
    for (int i = 0; i < 1000; ++i) handles.push_back(vole::spawn([i] { return i; }));
  });
  for (int i = 0; i < 1000; ++i) {
    try {
      EXPECT_EQ(handles[static_cast<std::size_t>(i)].join(), i);
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), vole::errc::canceled);
    }
  }
}

TEST_P(Abandon, ThreadsAlreadyWaitingInJoinAreTold) {
  vole::wait_group never;
  never.add();
  std::vector<std::thread> waiters;
  vole::run([&] {
    for (int i = 0; i < 8; ++i)
      waiters.emplace_back([h = vole::spawn([&never] { never.wait(); })]() mutable {
        expect_canceled(h);
      });
    vole::yield();
  });
  for (std::thread& t : waiters) t.join();
  never.done();
}

TEST_P(Abandon, DestroyingTheHandleOfAnAbandonedOneIsQuiet) {
  vole::wait_group never;
  never.add();
  {
    vole::join_handle<void> h;
    vole::run([&] {
      h = vole::spawn([&never] { never.wait(); });
      vole::yield();
    });
  }
  never.done();
}

TEST_P(Abandon, DetachedOnesAreForgotten) {
  vole::wait_group never;
  never.add();
  run([&] {
    for (int i = 0; i < 50; ++i) vole::spawn([&never] { never.wait(); }).detach();
    vole::yield();
  });
  never.done();
}

TEST_P(Abandon, LockedOnesVanishToo) {  // [25]
  vole::wait_group never;
  never.add();
  static std::atomic<int> locked;
  run([&] {
    locked = 0;
    for (int i = 0; i < 5; ++i)
      vole::go([&never] {
        vole::lock_os_thread();
        ++locked;
        never.wait();
      });
    while (locked < 5) vole::yield();
  });
  never.done();
}

// A goroutine in a loop that never enters the runtime keeps its thread; the program goes on.
std::atomic<bool> hog_may_go_on;
std::atomic<int> hogs_at_work;

void hog() {
  ++hogs_at_work;
  while (!hog_may_go_on) {
  }
  ++hogs_at_work;
  vole::yield();  // into a runtime that is gone: sleeps for ever
  ADD_FAILURE() << "a zombie came back";
}

TEST_P(Abandon, EndlessLoopLeavesAZombieAndTheProgramGoesOn) {
  hog_may_go_on = false;
  hogs_at_work = 0;
  const int zombies = vole::stats().zombie_threads;
  vole::set_max_procs(procs() + 1);  // one for the hog
  EXPECT_EQ(vole::run([] {
              vole::go(hog);
              while (hogs_at_work == 0) vole::yield();
              return 6;
            }),
            6);
  expect_zombies(1);
  EXPECT_EQ(vole::stats().zombie_threads, zombies + 1);
  expect_clean();

  vole::set_max_procs(procs());
  for (int round = 0; round < 3; ++round)  // a new runtime beside the running zombie
    EXPECT_EQ(vole::run([round] { return vole::spawn([round] { return round; }).join(); }), round);
  hog_may_go_on = true;
  EXPECT_TRUE(vole_test::eventually([] { return hogs_at_work == 2; }));
  EXPECT_EQ(vole::run([] { return vole::spawn([] { return 4; }).join(); }), 4);
}

TEST_P(Abandon, LockedZombieIsAZombieToo) {  // [25]
  hog_may_go_on = false;
  hogs_at_work = 0;
  vole::set_max_procs(procs() + 1);
  vole::run([] {
    vole::go([] {
      vole::lock_os_thread();
      for (int i = 0; i < 200; ++i) vole::yield();  // parks and is restarted as a locked thread
      hog();
    });
    while (hogs_at_work == 0) vole::yield();
  });
  expect_zombies(1);
  expect_clean();
  hog_may_go_on = true;
  EXPECT_TRUE(vole_test::eventually([] { return hogs_at_work == 2; }));
}

}  // namespace
