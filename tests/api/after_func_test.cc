// after_func, of a context and of the clock.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "fixture.h"

namespace {

class AfterFunc : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(AfterFunc);

using namespace std::chrono_literals;
using vole::context;

TEST_P(AfterFunc, RunsInItsOwnGoroutineWhenCancelled) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    vole::chan<std::uint64_t> ran(1);
    auto watch = vole::after_func(ctx, [ran] { ran.send(vole::goroutine_id()); });
    vole::yield();
    EXPECT_EQ(ran.size(), 0u);
    cancel();
    const auto id = ran.recv();
    EXPECT_NE(*id, 0u);
    EXPECT_NE(*id, vole::goroutine_id());
    EXPECT_FALSE(watch.stop());
  });
}

TEST_P(AfterFunc, StopPreventsItAndDestroysTheFunction) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    auto counted = std::make_shared<bool>(false);
    auto watch = vole::after_func(ctx, [counted] { *counted = true; });
    EXPECT_EQ(counted.use_count(), 2);
    EXPECT_TRUE(watch.stop());
    EXPECT_EQ(counted.use_count(), 1);
    EXPECT_FALSE(watch.stop());
    cancel();
    EXPECT_FALSE(*counted);
  });
}

TEST_P(AfterFunc, OfOneThatIsCancelledAlready) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    cancel();
    vole::chan<> ran(1);
    auto watch = vole::after_func(ctx, [ran] { ran.send(); });
    EXPECT_FALSE(watch.stop());
    ran.recv();
  });
}

TEST_P(AfterFunc, OfTheBackgroundNeverRuns) {
  run([] {
    auto watch = vole::after_func(context::background(), [] { ADD_FAILURE(); });
    EXPECT_TRUE(watch.stop());
    EXPECT_FALSE(watch.stop());
    auto counted = std::make_shared<int>(0);
    (void)vole::after_func(context::background(), [counted] {});
    EXPECT_EQ(counted.use_count(), 1) << "freed with its handle";
  });
}

TEST_P(AfterFunc, DestroyingTheHandleDoesNotStopIt) {
  run([] {
    auto counted = std::make_shared<std::atomic<int>>(0);
    vole::wait_group ran;
    {
      auto [ctx, cancel] = vole::with_cancel(context::background());
      context below;
      {
        const vole::cancelable made = vole::with_cancel(ctx);
        below = made.ctx;
      }  // cancelled at once
      ran.add(2);
      for (int i = 0; i < 2; ++i)
        (void)vole::after_func(i == 0 ? ctx : below, [&ran, counted] {
          ++*counted;
          ran.done();
        });
    }
    ran.wait();
    EXPECT_EQ(*counted, 2);
    while (counted.use_count() != 1) vole::yield();
  });
}

TEST_P(AfterFunc, FromPlainThreadsWithoutARuntime) {
  std::atomic<bool> ran{false};
  auto [ctx, cancel] = vole::with_cancel(context::background());
  auto watch = vole::after_func(ctx, [&ran] { ran = true; });
  cancel();
  EXPECT_TRUE(vole_test::eventually([&] { return ran.load(); }));
  vole::shutdown();
}

TEST_P(AfterFunc, MayLeaveEarly) {
  run([] {
    auto counted = std::make_shared<int>(0);
    auto [ctx, cancel] = vole::with_cancel(context::background());
    (void)vole::after_func(ctx, [counted] { vole::exit_goroutine(); });
    cancel();
    while (counted.use_count() != 1) vole::yield();
  });
}

TEST_P(AfterFunc, TheClockCallsOnce) {
  run([] {
    vole::chan<std::uint64_t> ran(8);
    const auto begin = vole::now();
    auto timer = vole::after_func(2ms, [ran] { ran.send(vole::goroutine_id()); });
    EXPECT_NE(*ran.recv(), vole::goroutine_id());
    EXPECT_GE(vole::now() - begin, 2ms);
    EXPECT_FALSE(timer.stop());
    EXPECT_FALSE(timer.reset(0ms)) << "it was not pending";
    ran.recv();
    EXPECT_EQ(ran.size(), 0u);
  });
}

TEST_P(AfterFunc, AStoppedTimerCanBeSetAgain) {
  run([] {
    vole::chan<> ran(8);
    auto timer = vole::after_func(1h, [ran] { ran.send(); });
    EXPECT_TRUE(timer.reset(2h));
    EXPECT_TRUE(timer.stop());
    EXPECT_FALSE(timer.stop());
    EXPECT_EQ(ran.size(), 0u);
    EXPECT_FALSE(timer.reset(1h));
    EXPECT_TRUE(timer.reset(-1h));
    ran.recv();
    auto moved = std::move(timer);
    EXPECT_FALSE(timer.stop());
    EXPECT_FALSE(timer.reset(1h));
    EXPECT_FALSE(moved.reset(vole::duration::max()));
    EXPECT_TRUE(moved.stop());
  });
}

TEST_P(AfterFunc, ADroppedTimerStillFires) {
  run([] {
    vole::chan<> ran(1);
    auto counted = std::make_shared<int>(0);
    (void)vole::after_func(1ms, [ran, counted] { ran.send(); });
    ran.recv();
    while (counted.use_count() != 1) vole::yield();
  });
}

TEST_P(AfterFunc, ATimerMayOutliveItsRuntime) {
  vole::func_timer timer, second;
  std::atomic<int> ran{0};
  vole::run([&] {
    timer = vole::after_func(1h, [&ran] { ++ran; });
    second = vole::after_func(1h, [&ran] { ++ran; });
    (void)vole::after_func(1h, [&ran] { ++ran; });  // forgotten
  });
  EXPECT_FALSE(timer.stop()) << "it was forgotten with the runtime";
  EXPECT_FALSE(second.reset(1ms)) << "but it can be set again";
  EXPECT_TRUE(vole_test::eventually([&] { return ran == 1; }));
  vole::shutdown();
  EXPECT_EQ(ran, 1);
}

// stop() beside the clock: true, and it is not called; false, and it is called once, perhaps later.
TEST_P(AfterFunc, IsCalledExactlyIfStopSaysThatItWasStarted) {
  run([] {
    std::atomic<int> calls{0};
    int started = 0;
    for (int i = 0; i < 500; ++i) {
      vole::func_timer t = vole::after_func(std::chrono::nanoseconds(i % 50 * 100), [&] { ++calls; });
      if (i % 3 != 0) vole::yield();
      if (!t.stop()) ++started;
      EXPECT_FALSE(t.stop());
    }
    EXPECT_TRUE(vole_test::eventually([&] {
      vole::yield();
      return calls >= started;
    }));
    vole::sleep_for(1ms);  // what is due now would be called first
    EXPECT_EQ(calls, started);
  });
}

}  // namespace
