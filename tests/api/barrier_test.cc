// barrier: as std::barrier, on goroutines and plain threads.

#include <vole/barrier.h>
#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "parked.h"

namespace {

class Barrier : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Barrier);

static_assert(!std::is_copy_constructible_v<vole::barrier<>>);
static_assert(!std::is_copy_constructible_v<vole::barrier<>::arrival_token>);
constinit vole::barrier<> at_file_scope(1);

TEST_P(Barrier, OfOneNeverWaits) {
  for (int i = 0; i < 5; ++i) at_file_scope.arrive_and_wait();
  run([] {
    for (int i = 0; i < 5; ++i) at_file_scope.arrive_and_wait();
  });
}

TEST_P(Barrier, AllGoOnTogetherPhaseAfterPhase) {
  run([] {
    constexpr int kParties = 5, kPhases = 100;
    int phases = 0;
    vole::barrier b(kParties, [&]() noexcept { ++phases; });
    std::atomic<int> arrived{0};
    const auto party = [&] {
      for (int n = 1; n <= kPhases; ++n) {
        ++arrived;
        b.arrive_and_wait();
        EXPECT_GE(arrived, kParties * n);
      }
    };
    vole::wait_group all;
    for (int i = 0; i < kParties - 1; ++i) all.go(party);
    std::thread plain(party);
    all.wait();
    plain.join();
    EXPECT_EQ(phases, kPhases);
  });
}

// What one party writes before it arrives is there for the completion function, and what that writes
// is there for all.
TEST_P(Barrier, CompletionSeesAllAndIsSeenByAll) {
  run([] {
    constexpr int kParties = 4;
    int given[kParties] = {}, sum = 0;
    vole::barrier b(kParties, [&]() noexcept {
      sum = 0;
      for (const int n : given) sum += n;
    });
    vole::wait_group all;
    for (int i = 0; i < kParties; ++i)
      all.go([&, i] {
        for (int n = 0; n < 50; ++n) {
          given[i] = n;
          b.arrive_and_wait();
          EXPECT_EQ(sum, kParties * n);
          b.arrive_and_wait();  // all have looked
        }
      });
    all.wait();
  });
}

TEST_P(Barrier, ArriveDoesNotWait) {
  run([] {
    std::atomic<int> completed{0};
    vole::barrier b(3, [&]() noexcept { ++completed; });
    auto first = b.arrive(2);
    EXPECT_EQ(completed, 0);
    vole::go([&] { (void)b.arrive(); });
    b.wait(std::move(first));
    EXPECT_EQ(completed, 1);
    auto last = b.arrive(3);  // itself the last
    EXPECT_EQ(completed, 2);
    b.wait(std::move(last));
  });
}

TEST_P(Barrier, WhoDropsOutIsNotExpectedAgain) {
  run([] {
    vole::barrier b(3);
    b.arrive_and_drop();
    auto t = b.arrive(2);
    b.wait(std::move(t));
    auto two = b.arrive(2);  // two are all
    b.wait(std::move(two));
    b.arrive_and_drop();
    std::thread([&] { b.arrive_and_drop(); }).join();
  });
}

TEST_P(Barrier, GoroutinesParkAndThreadsBlockInIt) {
  run([] {
    vole::barrier b(4);
    vole::wait_group all;
    for (int i = 0; i < 2; ++i) all.go([&] { b.arrive_and_wait(); });
    std::thread plain([&] { b.arrive_and_wait(); });
    vole_test::wait_until_parked(2, "barrier");
    b.arrive_and_wait();
    all.wait();
    plain.join();
  });
}

TEST_P(Barrier, WhoIsReleasedMayDestroyIt) {
  run([] {
    for (int i = 0; i < 200; ++i) {
      auto b = std::make_unique<vole::barrier<>>(2);
      vole::go([at = b.get()] { (void)at->arrive(); });
      if (i % 2 == 0) vole::yield();
      b->arrive_and_wait();
      b.reset();
    }
  });
}

TEST_P(Barrier, AContextEndsTheWaitNotTheArrival) {
  run([] {
    int completed = 0;
    vole::barrier b(2, [&]() noexcept { ++completed; });
    auto [ctx, cancel] =
        vole::with_timeout(vole::context::background(), std::chrono::milliseconds(1));
    std::error_code error;
    EXPECT_FALSE(b.wait(b.arrive(), ctx, error));
    EXPECT_EQ(error, vole::errc::deadline_exceeded);
    (void)b.arrive();
    EXPECT_EQ(completed, 1);
    EXPECT_THROW(b.wait(b.arrive(), ctx), std::system_error) << "cancelled before";
    EXPECT_TRUE(b.wait(b.arrive(), vole::context::background(), error));
    EXPECT_FALSE(error);
    EXPECT_EQ(completed, 2);
  });
}

TEST_P(Barrier, WaitersAreAbandonedWithTheRuntime) {
  vole::barrier b(4);
  vole::run([&] {
    for (int i = 0; i < 3; ++i) vole::go([&] { b.arrive_and_wait(); });
    vole_test::wait_until_parked(3, "barrier");
  });
  b.arrive_and_wait();  // theirs count
}

}  // namespace
