// context_callback: a function that a cancellation calls and that a scope takes back.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "fixture.h"

namespace {

using vole::context;
using vole::context_callback;

class ContextCallback : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(ContextCallback);

static_assert(!std::is_copy_constructible_v<context_callback>);
static_assert(!std::is_move_constructible_v<context_callback>);

TEST_P(ContextCallback, IsCalledAndWaitedFor) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    const vole::chan<> begun, go_on;
    auto token = std::make_shared<int>(0);
    std::atomic<bool> ran{false};
    {
      const context_callback cb(ctx, [&, token] {
        begun.close();
        go_on.recv();
        ran = true;
      });
      cancel();
      begun.recv();
      vole::go([&go_on] { go_on.close(); });
    }
    EXPECT_TRUE(ran);
    EXPECT_EQ(token.use_count(), 1) << "the function is gone as well";
  });
}

TEST_P(ContextCallback, IsTakenBack) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    auto token = std::make_shared<int>(0);
    std::atomic<int> ran{0};
    {
      const context_callback cb(ctx, [&ran, token] { ++ran; });
    }
    EXPECT_EQ(token.use_count(), 1);
    {
      const context_callback never(context::background(), [&ran, token] { ++ran; });
    }
    EXPECT_EQ(token.use_count(), 1);
    cancel();
    EXPECT_EQ(vole::num_goroutines(), 1u);
    EXPECT_EQ(ran, 0);
  });
}

TEST_P(ContextCallback, OfAContextThatIsCancelledAlreadyRunsAtOnce) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    cancel();
    std::atomic<int> ran{0};
    {
      const context_callback cb(ctx, [&ran] { ++ran; });
    }
    EXPECT_EQ(ran, 1);
  });
}

TEST_P(ContextCallback, OfAPlainThread) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    std::atomic<int> ran{0};
    std::thread([&ran, &cancel = cancel, ctx = ctx] {
      const context_callback cb(ctx, [&ran] {
        vole::yield();
        ++ran;
      });
      cancel();
    }).join();
    EXPECT_EQ(ran, 1);
  });
  auto [ctx, cancel] = vole::with_cancel(context::background());  // the runtime starts when needed
  std::atomic<int> ran{0};
  {
    const context_callback cb(ctx, [&ran] { ++ran; });
    cancel();
  }
  EXPECT_EQ(ran, 1);
  vole::shutdown();
}

TEST_P(ContextCallback, DestroyedByItsOwnFunctionGoesOn) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    std::optional<context_callback> cb;
    const vole::chan<> over;
    cb.emplace(ctx, [&cb, over] {
      cb.reset();
      over.close();
    });
    cancel();
    over.recv();
    EXPECT_FALSE(cb);
  });
}

TEST_P(ContextCallback, AFunctionThatExitsItsGoroutineIsOver) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    const context_callback cb(ctx, [] { vole::exit_goroutine(); });
    cancel();
  });
}

// What the function refers to is there, however the scope is left.
TEST_P(ContextCallback, AnExceptionLeavesTheScopeOnlyWhenItIsOver) {
  run([] {
    vole::wait_group cancellers;  // one that is abandoned would keep what it has captured
    for (int i = 0; i < 200; ++i) {
      auto [ctx, cancel] = vole::with_cancel(context::background());
      cancellers.go(
          [cancel = std::make_shared<vole::cancel_function>(std::move(cancel))] { (*cancel)(); });
      try {
        const auto object = std::make_unique<std::atomic<int>>(0);
        const context_callback cb(ctx, [&object] {
          vole::yield();
          ++*object;
        });
        if (i % 2 == 0) vole::yield();
        throw std::runtime_error("in the middle");
      } catch (const std::runtime_error&) {
      }
    }
    cancellers.wait();
  });
}

// The runtime ends while the function is about to run or runs; the callback lives on outside.
TEST_P(ContextCallback, AFunctionThatWasAbandonedIsOver) {
  for (int i = 0; i < 50; ++i) {
    std::optional<vole::cancelable> made(vole::with_cancel(context::background()));
    const vole::chan<> never;
    std::optional<context_callback> cb(std::in_place, made->ctx, [&never] { never.recv(); });
    vole::run([&] {
      made->cancel();
      for (int k = i % 3; k > 0; --k) vole::yield();
    });
    cb.reset();
  }
}

}  // namespace
