// latch: as std::latch, on goroutines and plain threads.

#include <vole/latch.h>
#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "parked.h"

namespace {

class Latch : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Latch);

static_assert(!std::is_copy_constructible_v<vole::latch>);
static_assert(vole::latch::max() > 1'000'000);
constinit vole::latch at_file_scope(0);

TEST_P(Latch, OfNothingIsOpen) {
  at_file_scope.wait();
  EXPECT_TRUE(at_file_scope.try_wait());
  run([] {
    vole::latch l(0);
    l.wait();
    l.count_down(0);
    EXPECT_TRUE(l.try_wait());
  });
}

TEST_P(Latch, OpensWhenAllHaveCountedDown) {
  run([] {
    vole::latch l(10);
    int plain[10] = {};  // wait() orders them
    for (int i = 0; i < 10; ++i)
      vole::go([&, i] {
        plain[i] = i + 1;
        l.count_down();
      });
    l.wait();
    for (int i = 0; i < 10; ++i) EXPECT_EQ(plain[i], i + 1);
    EXPECT_TRUE(l.try_wait());
  });
}

TEST_P(Latch, StaysShutUntilTheLast) {
  run([] {
    vole::latch l(5);
    l.count_down(3);
    EXPECT_FALSE(l.try_wait());
    l.count_down();
    EXPECT_FALSE(l.try_wait());
    l.count_down();
    EXPECT_TRUE(l.try_wait());
    vole::latch unused(3);  // may go as it is
  });
}

TEST_P(Latch, GoroutinesParkAndThreadsBlockInIt) {
  run([] {
    vole::latch start(1), end(8);
    std::atomic<int> through{0};
    const auto racer = [&] {
      start.wait();
      ++through;
      end.arrive_and_wait();
      EXPECT_EQ(through, 8);
    };
    vole::wait_group all;
    for (int i = 0; i < 6; ++i) all.go(racer);
    std::thread one(racer), two(racer);
    vole_test::wait_until_parked(6, "latch");
    EXPECT_EQ(through, 0);
    start.count_down();
    all.wait();
    one.join();
    two.join();
  });
}

TEST_P(Latch, WhoIsReleasedMayDestroyIt) {
  run([] {
    for (int i = 0; i < 200; ++i) {
      auto l = std::make_unique<vole::latch>(1);
      vole::go([at = l.get()] { at->count_down(); });
      if (i % 2 == 0) vole::yield();
      l->wait();
      l.reset();
    }
  });
}

TEST_P(Latch, AContextEndsTheWait) {
  run([] {
    vole::latch l(1);
    const auto give_up = [&] {
      auto [ctx, cancel] =
          vole::with_timeout(vole::context::background(), std::chrono::milliseconds(1));
      std::error_code error;
      EXPECT_FALSE(l.wait(ctx, error));
      EXPECT_EQ(error, vole::errc::deadline_exceeded);
      EXPECT_THROW(l.wait(ctx), std::system_error) << "cancelled before";
    };
    give_up();
    std::thread(give_up).join();
    l.count_down();
    auto [ctx, cancel] = vole::with_cancel(vole::context::background());
    std::error_code error = std::make_error_code(std::errc::io_error);
    EXPECT_TRUE(l.wait(ctx, error));
    EXPECT_FALSE(error) << "cleared";
    l.wait(vole::context::background());
  });
}

TEST_P(Latch, WaitersAreAbandonedWithTheRuntime) {
  vole::latch l(1);
  vole::run([&] {
    for (int i = 0; i < 3; ++i) vole::go([&] { l.wait(); });
    vole_test::wait_until_parked(3, "latch");
  });
  l.count_down();
  l.wait();
}

}  // namespace
