// run(): results, exceptions, misuse, restart, and runtimes that go() started.

#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include "fixture.h"

namespace {

class Run : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Run);

TEST_P(Run, ReturnsWhatMainReturns) {
  EXPECT_EQ(vole::run([] { return 42; }), 42);
  EXPECT_EQ(vole::run([] { return short{-3}; }), -3);
  EXPECT_EQ(vole::run([] { return true; }), 1);
}

TEST_P(Run, VoidMainGivesZero) {
  bool called = false;
  EXPECT_EQ(vole::run([&] { called = true; }), 0);
  EXPECT_TRUE(called);
}

int plain_main() { return 7; }

TEST_P(Run, TakesFunctionsAndMoveOnlyCallables) {
  EXPECT_EQ(vole::run(plain_main), 7);
  EXPECT_EQ(vole::run(&plain_main), 7);
  EXPECT_EQ(vole::run([p = std::make_unique<int>(9)] { return *p; }), 9);
  auto counter = [n = 0]() mutable { return ++n; };
  EXPECT_EQ(vole::run(counter), 1);
  EXPECT_EQ(vole::run(counter), 2) << "an lvalue is called, not copied";
}

TEST_P(Run, RethrowsMainsException) {
  EXPECT_THROW(vole::run([]() -> int { throw std::out_of_range("main"); }), std::out_of_range);
  EXPECT_THROW(vole::run([] { throw 5; }), int);
  EXPECT_EQ(vole::run([] { return 1; }), 1);
}

TEST_P(Run, RunsOnAGoroutineOfItsOwn) {
  const std::thread::id caller = std::this_thread::get_id();
  run([&] {
    EXPECT_NE(vole::goroutine_id(), 0u);
    EXPECT_EQ(vole::num_goroutines(), 1u);
    EXPECT_NE(std::this_thread::get_id(), caller);
  });
}

TEST_P(Run, OnAGoroutineIsALogicError) {
  run([] {
    EXPECT_THROW(vole::run([] {}), std::logic_error);
    vole::spawn([] { EXPECT_THROW(vole::run([] {}), std::logic_error); }).join();
  });
}

TEST_P(Run, SecondThreadGetsALogicError) {
  std::atomic<bool> inside{false};
  vole::wait_group release;
  release.add();
  std::thread first([&] {
    vole::run([&] {
      inside = true;
      release.wait();
    });
  });
  ASSERT_TRUE(vole_test::eventually([&] { return inside.load(); }));
  EXPECT_THROW(vole::run([] {}), std::logic_error);
  release.done();
  first.join();
  EXPECT_EQ(vole::run([] { return 3; }), 3);
}

TEST_P(Run, RestartsAHundredTimes) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    const int got = vole::run([&, i] {
      vole::wait_group all;
      for (int k = 0; k < 10; ++k) all.go([&] { ++ran; });
      all.wait();
      return i;
    });
    ASSERT_EQ(got, i);
  }
  EXPECT_EQ(ran.load(), 1000);
  expect_clean();
}

TEST_P(Run, MayBeCalledFromThreadsInTurn) {
  for (int i = 0; i < 10; ++i) {
    int got = 0;
    std::thread([&] { got = vole::run([i] { return i; }); }).join();
    EXPECT_EQ(got, i);
  }
}

TEST_P(Run, GoOnAPlainThreadStartsARuntimeThatShutdownStops) {
  for (int round = 0; round < 20; ++round) {
    vole::wait_group all;
    std::atomic<int> ran{0};
    for (int i = 0; i < 20; ++i) all.go([&] { ++ran; });
    all.wait();
    EXPECT_EQ(ran.load(), 20);
    vole::shutdown();
    ASSERT_EQ(vole::num_goroutines(), 0u);
  }
  vole::shutdown();  // nothing runs: no effect
}

TEST_P(Run, AdoptsARuntimeThatGoStarted) {
  static std::atomic<int> steps;
  steps = 0;
  vole::wait_group never;
  never.add();
  vole::go([&never] {
    ++steps;
    never.wait();
    ++steps;
  });
  EXPECT_EQ(vole::run([] {
              EXPECT_EQ(vole::num_goroutines(), 2u);
              while (steps == 0) vole::yield();
              return 5;
            }),
            5);
  EXPECT_EQ(vole::num_goroutines(), 0u) << "run() ends what it adopted";
  EXPECT_EQ(steps.load(), 1);
  never.done();
}

TEST_P(Run, ShutdownInsideRunHasNoEffect) {
  run([] {
    EXPECT_THROW(vole::shutdown(), std::logic_error) << "on a goroutine";
    std::thread([] { vole::shutdown(); }).join();
    EXPECT_EQ(vole::spawn([] { return 8; }).join(), 8);
  });
}

TEST_P(Run, PlainThreadsMayKeepCallingWhileItEnds) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      vole::stats();
      vole::num_goroutines();
      EXPECT_EQ(vole::goroutine_id(), 0u);
    }
  });
  for (int i = 0; i < 50; ++i) vole::run([] { vole::yield(); });
  stop = true;
  other.join();
}

}  // namespace
