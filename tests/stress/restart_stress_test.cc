// run() ends with work in flight, of every kind, again and again.
//
// Note   abandoned goroutines own no heap memory here: their destructors do not run.

#include <vole/vole.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

using vole_test::dice;

VOLE_STRESS(RestartStress);

void start_one_of_each_kind(dice& d, vole::wait_group& never) {
  switch (d.below(9)) {
    case 0: vole::go([&never] { never.wait(); }); break;
    case 1:
      vole::go([] {
        for (;;) vole::yield();
      });
      break;
    case 2: vole::go([] {}); break;
    case 3:
      vole::go([] {
        for (;;) vole::go([] { vole::yield(); }), vole::yield();
      });
      break;
    case 4:
      vole::go([&never] {
        vole::lock_os_thread();
        never.wait();
      });
      break;
    case 5:
      vole::go([] {  // its thread ends with it
        vole::lock_os_thread();
        vole::yield();
      });
      break;
    case 6:
      vole::go([] {
        for (;;) vole::stats(), vole::yield();
      });
      break;
    case 7: vole::spawn([&never] { never.wait(); }).detach(); break;
    case 8:
      vole::go([] {
        for (int i = 1;; i = i % 3 + 1) vole::set_max_procs(i), vole::yield();
      });
      break;
    default: break;
  }
}

TEST_P(RestartStress, WorkOfEveryKindIsAbandoned) {
  const vole_test::time_limit limit;
  vole::wait_group never;
  never.add();
  dice d(1);
  while (!limit.over()) {
    vole::set_max_procs(procs());
    vole::run([&] {
      for (std::uint32_t i = d.below(30); i > 0; --i) start_one_of_each_kind(d, never);
      for (std::uint32_t i = d.below(20); i > 0; --i) vole::yield();
    });
    ASSERT_EQ(vole::num_goroutines(), 0u);
  }
  never.done();
  allow_zombies();
  expect_clean();
}

// Threads of locked goroutines end just when the runtime does [25].
TEST_P(RestartStress, LockedGoroutinesEndWithTheRuntime) {
  const vole_test::time_limit limit;
  while (!limit.over())
    vole::run([] {
      for (int i = 0; i < 4; ++i) vole::go([] { vole::lock_os_thread(); });
      vole::yield();
    });
  allow_zombies();
  expect_clean();
}

// A plain thread waits in join() while the goroutine finishes and the runtime ends: it gets the
// result or is told, but it never hangs.
TEST_P(RestartStress, JoinRacesWithTheEnd) {
  const vole_test::time_limit limit;
  dice d(2);
  while (!limit.over()) {
    std::atomic<vole::join_handle<int>*> offered{nullptr};
    std::thread joiner([&] {
      vole::join_handle<int>* h = nullptr;
      while ((h = offered.exchange(nullptr)) == nullptr) std::this_thread::yield();
      try {
        EXPECT_EQ(h->join(), 7);
      } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), vole::errc::canceled);
      }
    });
    vole::join_handle<int> h;
    vole::run([&] {
      h = vole::spawn([yields = d.below(6)] {
        for (std::uint32_t i = 0; i < yields; ++i) vole::yield();
        return 7;
      });
      offered = &h;
      for (std::uint32_t i = d.below(6); i > 0; --i) vole::yield();
    });
    joiner.join();
  }
  allow_zombies();
}

// Plain threads use the runtime while it comes and goes.
TEST_P(RestartStress, PlainThreadsMeetEveryPhase) {
  const vole_test::time_limit limit;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (dice d(10 + t); !stop;) {
        if (d.below(3) == 0) {
          vole::stats();
        } else {
          vole::go([] { vole::yield(); });
        }
        if (d.below(50) == 0) vole::shutdown();
      }
    });
  while (!limit.over()) vole::run([] { vole::yield(); });
  stop = true;
  for (std::thread& t : threads) t.join();
  vole::shutdown();
  allow_zombies();
  expect_clean();
}

}  // namespace
