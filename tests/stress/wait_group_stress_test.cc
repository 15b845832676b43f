// wait_group from every side at once, and destroyed by whoever is released first.

#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

using vole_test::dice;

VOLE_STRESS(WaitGroupStress);

// Some wait, some count down; the last one who is through deletes it.
struct shared_gate {
  vole::wait_group group;
  std::atomic<int> inside{0};
  void pass() {
    group.wait();
    if (--inside == 0) delete this;
  }
};

TEST_P(WaitGroupStress, LastWaiterDestroysIt) {
  const vole_test::time_limit limit;
  vole::run([&] {
    dice d(1);
    while (!limit.over()) {
      const int waiters = 1 + static_cast<int>(d.below(6)), doers = 1 + static_cast<int>(d.below(6));
      auto* const gate = new shared_gate;
      gate->inside = waiters;
      gate->group.add(doers);
      vole::wait_group all;
      all.add(waiters + doers);
      int w = waiters, x = doers;
      while (w + x > 0) {
        const bool waits = x == 0 || (w > 0 && d.below(2) == 0);
        waits ? --w : --x;
        vole::go([gate, waits, &all, yields = d.below(3)] {
          for (std::uint32_t k = 0; k < yields; ++k) vole::yield();
          if (waits) {
            gate->pass();
          } else {
            gate->group.done();
          }
          all.done();
        });
      }
      all.wait();
    }
  });
  expect_clean();
}

TEST_P(WaitGroupStress, PlainThreadsAndGoroutinesOnOneObject) {
  const vole_test::time_limit limit;
  vole::run([&] {
    std::atomic<shared_gate*> offered{nullptr};
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] {
        while (!stop) {
          if (shared_gate* const g = offered.exchange(nullptr)) g->pass();
        }
      });
    dice d(2);
    while (!limit.over()) {
      auto* const gate = new shared_gate;
      gate->inside = 2;  // a plain thread and we
      gate->group.add(2);
      offered = gate;
      vole::go([gate] { gate->group.done(); });
      if (d.below(2) == 0) vole::yield();
      vole::go([gate] { gate->group.done(); });
      while (offered != nullptr) vole::yield();  // a thread has taken it
      gate->pass();
    }
    stop = true;
    for (std::thread& t : threads) t.join();
  });
}

TEST_P(WaitGroupStress, RoundsOfOneObject) {
  const vole_test::time_limit limit;
  vole::run([&] {
    vole::wait_group group;
    long plain = 0, expected = 0;
    dice d(3);
    while (!limit.over()) {
      std::atomic<long> n{0};
      const std::uint32_t k = d.below(20);
      for (std::uint32_t i = 0; i < k; ++i) group.go([&] { ++n; });
      group.wait();
      plain += n;
      expected += k;
    }
    EXPECT_EQ(plain, expected);
  });
}

}  // namespace
