// What the move of a value may do while it travels through a channel: all that neither waits nor
// wakes. What it may not do: tests/crash/value_move_test.cc.

#include <vole/vole.h>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "fixture.h"

namespace {

// Calls its function at every move.
struct acting {
  explicit acting(const std::function<void()>& f) : act(&f) {}
  acting(acting&& other) noexcept : act(other.act) { (*act)(); }
  const std::function<void()>* act;
};

void travel(const std::function<void()>& act) {
  const vole::chan<acting> buffered(1), unbuffered;
  buffered.send(acting(act));
  EXPECT_TRUE(buffered.recv().has_value());
  vole::select(vole::on_send(buffered, acting(act)));
  vole::select(
      vole::on_recv(buffered, [](std::optional<acting> v) { EXPECT_TRUE(v.has_value()); }));
  vole::go([&] { unbuffered.send(acting(act)); });
  EXPECT_TRUE(unbuffered.recv().has_value());
}

// On a goroutine, and on a plain thread beside it.
void travel_everywhere(const std::function<void()>& act) {
  travel(act);
  std::thread thread([&] { travel(act); });
  vole::blocking([&] { thread.join(); });
}

class ValueMove : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, ValueMove, testing::Values(1, 2, 4), vole_test::procs_name);

TEST_P(ValueMove, MayLockAMutexThatNobodyElseWants) {
  run([] {
    vole::mutex m;
    int n = 0;
    travel_everywhere([&] {
      const std::lock_guard lock(m);
      ++n;
    });
    EXPECT_GE(n, 12);
  });
}

TEST_P(ValueMove, MayLockAMutexThatIsAProcessorsOwn) {
  run([] {
    vole::mutex m;
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 20'000; ++i) const std::lock_guard lock(m);
      travel_everywhere([&] { const std::lock_guard lock(m); });
    }
  });
}

TEST_P(ValueMove, MayTryToLock) {
  run([] {
    vole::mutex held;
    const std::lock_guard lock(held);
    travel_everywhere([&] { EXPECT_FALSE(held.try_lock()); });
  });
}

TEST_P(ValueMove, MayComeToACheckpoint) {
  run([] {
    travel_everywhere([] {
      for (int i = 0; i < 1000; ++i) vole::checkpoint();
    });
  });
}

TEST_P(ValueMove, MayCountWithoutWaking) {
  run([] {
    vole::wait_group group;
    vole::semaphore free(1);
    group.add(1);
    travel_everywhere([&] {
      group.add(1);
      group.done();
      EXPECT_TRUE(free.try_acquire());
      free.release();
    });
    group.done();
  });
}

TEST_P(ValueMove, MayAllocateAndHandleChannels) {
  run([] {
    const vole::chan<int> c(3);
    travel_everywhere([&] {
      const auto copy = std::make_unique<vole::chan<int>>(c);
      EXPECT_EQ(copy->capacity(), 3u);
      EXPECT_EQ(std::string(1000, 'x').size(), 1000u);
      const vole::chan<int> fresh(1);
    });
  });
}

}  // namespace
