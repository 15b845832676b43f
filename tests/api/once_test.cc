// once: one run that counts, everybody waits for it, failures are retried.

#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "fixture.h"

namespace {

class Once : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, Once, testing::Values(1, 2, 4, 64), vole_test::procs_name);

constinit vole::once made_at_compile_time;

TEST_P(Once, RunsOnceAndPassesArguments) {
  static int runs = 0;
  for (int i = 0; i < 3; ++i) made_at_compile_time.call([] { ++runs; });
  EXPECT_EQ(runs, 1);
  vole::once o;
  int got = 0;
  o.call([&](std::unique_ptr<int> p, int& to) { to = *p; }, std::make_unique<int>(7), got);
  EXPECT_EQ(got, 7);
}

TEST_P(Once, EverybodyWaitsForTheOneThatRuns) {
  run([] {
    vole::once o;
    int made = 0;  // plain: once must order it
    std::atomic<int> runs{0};
    const auto use = [&] {
      o.call([&] {
        ++runs;
        for (int i = 0; i < 20; ++i) vole::yield();
        made = 42;
      });
      EXPECT_EQ(made, 42);
    };
    vole::wait_group all;
    std::vector<std::thread> threads;
    for (int g = 0; g < 30; ++g) all.go(use);
    for (int t = 0; t < 4; ++t) threads.emplace_back(use);
    all.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(runs.load(), 1);
  });
}

TEST_P(Once, ARunThatThrowsDoesNotCount) {
  run([] {
    vole::once o;
    std::atomic<int> tries{0}, failed{0}, ok{0};
    const auto use = [&] {
      try {
        o.call([&] {
          vole::yield();
          if (++tries <= 5) throw std::runtime_error("not yet");
          ++ok;
        });
      } catch (const std::runtime_error&) {
        ++failed;
      }
    };
    vole::wait_group all;
    std::vector<std::thread> threads;
    for (int g = 0; g < 20; ++g) all.go(use);
    for (int t = 0; t < 4; ++t) threads.emplace_back(use);
    all.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(failed.load(), 5);
    EXPECT_EQ(ok.load(), 1);
    o.call([] { ADD_FAILURE() << "it is done already"; });
  });
}

TEST_P(Once, ARunEndedByExitGoroutineDoesNotCount) {
  run([] {
    vole::once o;
    vole::wait_group all;
    all.go([&] { o.call([] { vole::exit_goroutine(); }); });
    all.wait();
    bool ran = false;
    o.call([&] { ran = true; });
    EXPECT_TRUE(ran);
  });
}

TEST_P(Once, TheReleasedMayDestroyIt) {
  run([] {
    for (int round = 0; round < 100; ++round) {
      auto o = std::make_unique<vole::once>();
      vole::wait_group all;
      std::atomic<bool> running{false};
      all.go([&, raw = o.get()] {
        raw->call([&] {
          running = true;
          for (int i = 0; i < 5; ++i) vole::yield();
        });
      });
      while (!running) vole::yield();
      o->call([] { FAIL(); });
      o.reset();
      all.wait();
    }
  });
}

// ── once_value ──

constinit vole::once_value computed_at_run_time([] { return 6 * 7; });
static_assert(std::is_same_v<decltype(computed_at_run_time()), const int&>);
static_assert(!std::is_copy_constructible_v<decltype(computed_at_run_time)>);

TEST_P(Once, AValueIsComputedOnceForAll) {
  EXPECT_EQ(computed_at_run_time(), 42);
  run([] {
    int runs = 0;  // plain: once_value must order it
    const vole::once_value text([&runs] {
      ++runs;
      for (int i = 0; i < 20; ++i) vole::yield();
      return std::string("long enough to be on the heap");
    });
    std::atomic<const std::string*> where{nullptr};
    const auto use = [&] {
      const std::string& mine = text();
      EXPECT_EQ(mine, "long enough to be on the heap");
      const std::string* const before = where.exchange(&mine);
      EXPECT_TRUE(before == nullptr || before == &mine) << "one object for all";
    };
    vole::wait_group all;
    std::vector<std::thread> threads;
    for (int g = 0; g < 30; ++g) all.go(use);
    for (int t = 0; t < 4; ++t) threads.emplace_back(use);
    all.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(runs, 1);
  });
}

TEST_P(Once, AValueThatThrewThrowsTheSameForAll) {
  run([] {
    std::atomic<int> runs{0}, threw{0};
    vole::once_value value([&runs]() -> int {
      ++runs;
      vole::yield();
      throw std::runtime_error("no settings");
    });
    std::atomic<const void*> what{nullptr};
    const auto use = [&] {
      try {
        (void)value();
      } catch (const std::runtime_error& e) {
        const void* const before = what.exchange(&e);
        EXPECT_TRUE(before == nullptr || before == &e) << "the same exception object";
        ++threw;
      }
    };
    vole::wait_group all;
    std::thread plain(use);
    for (int g = 0; g < 10; ++g) all.go(use);
    all.wait();
    plain.join();
    use();
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(threw, 12);
  });
}

TEST_P(Once, AValueEndedByExitGoroutineDoesNotCount) {
  run([] {
    int runs = 0;
    vole::once_value value([&runs] {
      if (++runs == 1) vole::exit_goroutine();
      return runs;
    });
    vole::wait_group all;
    all.go([&] { (void)value(); });
    all.wait();
    EXPECT_EQ(value(), 2);
  });
}

TEST_P(Once, AValueMayBeMoveOnlyAReferenceOrNothing) {
  vole::once_value owned([p = std::make_unique<int>(3)]() mutable { return std::move(p); });
  EXPECT_EQ(*owned(), 3);
  int x = 0;
  vole::once_value ref([&x]() -> int& { return x; });
  ref() = 5;
  EXPECT_EQ(x, 5);
  vole::once_value action([&x] { ++x; });
  action();
  action();
  EXPECT_EQ(x, 6);
  // What fn holds goes when it has run.
  auto held = std::make_shared<int>(1);
  vole::once_value uses([held] { return *held; });
  EXPECT_EQ(held.use_count(), 2);
  EXPECT_EQ(uses(), 1);
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
