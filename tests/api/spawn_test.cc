// spawn() and join_handle: every kind of result, once.

#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "fixture.h"

namespace {

class Spawn : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Spawn);

static_assert(!std::is_copy_constructible_v<vole::join_handle<int>>);
static_assert(std::is_nothrow_move_constructible_v<vole::join_handle<int>>);

TEST_P(Spawn, GivesTheValue) {
  run([] {
    EXPECT_EQ(vole::spawn([] { return 3; }).join(), 3);
    EXPECT_EQ(vole::spawn([](int a, int b) { return a * b; }, 6, 7).join(), 42);
    EXPECT_EQ(vole::spawn({.name = "text"}, [] { return std::string("long enough for the heap"); })
                  .join(),
              "long enough for the heap");
    bool ran = false;
    vole::spawn([&] { ran = true; }).join();
    EXPECT_TRUE(ran);
  });
}

TEST_P(Spawn, GivesReferencesAndMoveOnlyValues) {
  run([] {
    int target = 1;
    auto h = vole::spawn([&]() -> int& { return target; });
    static_assert(std::is_same_v<decltype(h.join()), int&>);
    int& got = h.join();
    EXPECT_EQ(&got, &target);
    auto p = vole::spawn([](std::unique_ptr<int> in) { return in; }, std::make_unique<int>(9));
    EXPECT_EQ(*p.join(), 9);
  });
}

TEST_P(Spawn, RethrowsOnce) {
  run([] {
    auto h = vole::spawn([]() -> int { throw std::out_of_range("inside"); });
    try {
      h.join();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::out_of_range& e) {
      EXPECT_STREQ(e.what(), "inside");
    }
    EXPECT_FALSE(h.joinable());
    EXPECT_THROW(h.join(), std::logic_error);
  });
}

TEST_P(Spawn, JoinOfNothingIsALogicError) {
  run([] {
    vole::join_handle<int> empty;
    EXPECT_FALSE(empty.joinable());
    EXPECT_THROW(empty.join(), std::logic_error);
    auto h = vole::spawn([] { return 1; });
    EXPECT_EQ(h.join(), 1);
    EXPECT_THROW(h.join(), std::logic_error);
    auto moved = vole::spawn([] { return 2; });
    auto to = std::move(moved);
    EXPECT_THROW(moved.join(), std::logic_error);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(to.join(), 2);
  });
}

TEST_P(Spawn, DestructorJoins) {
  run([] {
    std::atomic<bool> done{false};
    {
      auto h = vole::spawn([&] {
        for (int i = 0; i < 100; ++i) vole::yield();
        done = true;
      });
    }
    EXPECT_TRUE(done);
  });
}

TEST_P(Spawn, MoveAssignmentJoinsWhatItReplaces) {
  run([] {
    std::atomic<bool> first_done{false};
    auto h = vole::spawn([&] {
      for (int i = 0; i < 50; ++i) vole::yield();
      first_done = true;
      return 1;
    });
    h = vole::spawn([] { return 2; });
    EXPECT_TRUE(first_done);
    EXPECT_EQ(h.join(), 2);
  });
}

TEST_P(Spawn, DetachedGoesOnAlone) {
  run([] {
    vole::wait_group done;
    done.add();
    auto h = vole::spawn([&] {
      vole::yield();
      done.done();
    });
    h.detach();
    EXPECT_FALSE(h.joinable());
    done.wait();
    vole::spawn([]() -> int { throw 5; }).detach();  // nobody will ask
    vole::yield();
  });
}

TEST_P(Spawn, ExitGoroutineHasNoResult) {
  run([] {
    auto h = vole::spawn([]() -> int { vole::exit_goroutine(); });
    try {
      h.join();
      ADD_FAILURE() << "there was a result";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), vole::errc::goroutine_exited);
      EXPECT_STREQ(e.code().category().name(), "vole");
    }
  });
}

TEST_P(Spawn, UncollectedExceptionIsDroppedWhileUnwinding) {
  run([] {
    try {
      auto h = vole::spawn([] { throw std::runtime_error("lost"); });
      throw std::logic_error("found");
    } catch (const std::logic_error& e) {
      EXPECT_STREQ(e.what(), "found");
    }
  });
}

TEST_P(Spawn, ResultsAndArgumentsAreDestroyedOnce) {
  static std::atomic<int> alive;
  struct counted {
    counted() { ++alive; }
    counted(const counted&) { ++alive; }
    counted(counted&&) noexcept { ++alive; }
    counted& operator=(const counted&) = default;
    counted& operator=(counted&&) = default;
    ~counted() { --alive; }
  };
  alive = 0;
  run([] {
    for (int i = 0; i < 50; ++i) {
      const counted got = vole::spawn([](counted c) { return c; }, counted{}).join();
      vole::spawn([](const counted&) {}, counted{}).detach();
      try {
        vole::spawn([c = counted{}]() -> counted { throw c; }).join();
      } catch (const counted&) {
      }
    }
    while (vole::num_goroutines() > 1) vole::yield();
  });
  EXPECT_EQ(alive, 0);
}

TEST_P(Spawn, JoinsFromPlainThreads) {
  std::atomic<int> sum{0};
  run([&] {
    sum = 0;
    vole::wait_group joined;  // main waits here, not in std::thread::join: that would keep its P
    joined.add(4);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, h = vole::spawn([i] {
                                 vole::yield();
                                 return i;
                               })]() mutable {
        sum += h.join();
        joined.done();
      });
    joined.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(sum, 0 + 1 + 2 + 3);
  });
}

TEST_P(Spawn, WithoutRunStartsTheRuntime) {
  EXPECT_EQ(vole::spawn([] { return vole::spawn([] { return 11; }).join(); }).join(), 11);
  vole::shutdown();
}

int fibonacci(int n) {
  if (n < 2) return n;
  auto left = vole::spawn(fibonacci, n - 1);
  const int right = fibonacci(n - 2);
  return left.join() + right;
}

TEST_P(Spawn, ForkAndJoinRecursively) {
  run([] { EXPECT_EQ(fibonacci(15), 610); });
}

}  // namespace
