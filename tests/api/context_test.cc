// context: cancellation, causes, trees, values, stop tokens, after_func.

#include <vole/context.h>
#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "fixture.h"

namespace {

class Context : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Context);

using vole::context;
using vole::errc;

bool closed(const context& c) { return c.done().try_recv().status == vole::chan_status::closed; }

// On the main goroutine, and on a plain thread without a runtime.
template <class F>
void everywhere(F body) {
  body();
  std::thread(body).join();
}

TEST_P(Context, BackgroundNeverEnds) {
  const context c = context::background();
  EXPECT_TRUE(c.done() == nullptr);
  EXPECT_FALSE(c.err());
  EXPECT_EQ(c.cause(), nullptr);
  EXPECT_FALSE(c.deadline().has_value());
  EXPECT_FALSE(c.stop_token().stop_possible());
  EXPECT_EQ(c, context());
  run([c] { EXPECT_EQ(vole::select(vole::on_done(c), vole::on_default()), 1u); });
}

TEST_P(Context, CancelClosesDoneOnce) {
  const auto body = [] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    EXPECT_FALSE(ctx.err());
    EXPECT_FALSE(closed(ctx));
    EXPECT_EQ(ctx.cause(), nullptr);
    cancel();
    EXPECT_TRUE(closed(ctx));
    EXPECT_EQ(ctx.err(), errc::canceled);
    EXPECT_EQ(ctx.err(), std::errc::operation_canceled);
    cancel(std::make_exception_ptr(1));  // too late
    try {
      std::rethrow_exception(ctx.cause());
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), errc::canceled);
    }
  };
  run([body] { everywhere(body); });
  everywhere(body);
}

TEST_P(Context, CauseReachesTheChildren) {
  run([] {
    auto [top, cancel] = vole::with_cancel(context::background());
    auto [child, cancel_child] = vole::with_cancel(top);
    auto [early, cancel_early] = vole::with_cancel(child);
    cancel_early();
    cancel(std::make_exception_ptr(std::runtime_error("enough")));
    auto [late, cancel_late] = vole::with_cancel(child);
    for (const context& c : {top, child, late}) {
      EXPECT_EQ(c.err(), errc::canceled);
      EXPECT_TRUE(closed(c));
      EXPECT_EQ(c.cause(), top.cause());
    }
    EXPECT_THROW(std::rethrow_exception(top.cause()), std::runtime_error);
    EXPECT_THROW(std::rethrow_exception(early.cause()), std::system_error) << "its own";
  });
}

TEST_P(Context, ChildrenDoNotCancelTheirParent) {
  run([] {
    auto [top, cancel] = vole::with_cancel(context::background());
    auto [left, cancel_left] = vole::with_cancel(top);
    auto [right, cancel_right] = vole::with_cancel(top);
    cancel_left();
    EXPECT_TRUE(left.err());
    EXPECT_FALSE(top.err());
    EXPECT_FALSE(right.err());
  });
}

TEST_P(Context, DestroyingTheCancelFunctionCancels) {
  run([] {
    context kept;
    {
      auto [ctx, cancel] = vole::with_cancel(context::background());
      kept = ctx;
      vole::cancel_function moved = std::move(cancel);
      cancel();  // empty now
      EXPECT_FALSE(kept.err());
    }
    EXPECT_EQ(kept.err(), errc::canceled);

    auto one = vole::with_cancel(context::background());
    auto two = vole::with_cancel(context::background());
    one.cancel = std::move(two.cancel);
    EXPECT_TRUE(one.ctx.err());
    EXPECT_FALSE(two.ctx.err());
  });
}

TEST_P(Context, WakesGoroutinesAndThreads) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    std::atomic<int> woken{0};
    vole::wait_group all;
    std::vector<std::thread> threads;
    const auto wait = [&woken, c = ctx] {
      EXPECT_FALSE(c.done().recv().has_value());
      EXPECT_EQ(c.err(), errc::canceled) << "closed means that there is an error";
      ++woken;
    };
    for (int i = 0; i < 50; ++i) all.go(wait);
    for (int i = 0; i < 2; ++i) threads.emplace_back(wait);
    vole::yield();
    cancel();
    all.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(woken, 52);
  });
}

TEST_P(Context, SelectTakesDone) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    vole::chan<int> nothing;
    bool ran = false;
    vole::go([&cancel = cancel] { cancel(); });
    EXPECT_EQ(vole::select(vole::on_recv(nothing), vole::on_done(ctx, [&] { ran = true; })), 1u);
    EXPECT_TRUE(ran);
    vole::select_case owned[] = {vole::on_recv(nothing), vole::on_done(ctx)};
    EXPECT_EQ(vole::select(owned), 1u);
  });
}

TEST_P(Context, ADeepChainIsCancelledAndFreed) {
  run([] {
    const int depth = vole_test::kSanitized ? 5000 : 50000;
    std::vector<vole::cancelable> chain;
    chain.push_back(vole::with_cancel(context::background()));
    for (int i = 0; i < depth; ++i) chain.push_back(vole::with_cancel(chain.back().ctx));
    const context last = chain.back().ctx;
    chain.front().cancel();
    EXPECT_TRUE(last.err());
    chain.clear();
  });
}

inline constexpr vole::context_key<std::string> user{"user"};
inline constexpr vole::context_key<int> depth{"depth"}, other{"other"};

TEST_P(Context, ValuesAreFoundFromBelow) {
  const auto body = [] {
    auto [top, cancel] = vole::with_cancel(context::background());
    const context a = vole::with_value(top, user, "vole");
    const context b = vole::with_value(a, depth, 1);
    auto [c, cancel_c] = vole::with_cancel(b);
    const context d = vole::with_value(c, depth, 2);
    EXPECT_EQ(*d.value(user), "vole");
    EXPECT_EQ(*d.value(depth), 2);
    EXPECT_EQ(*c.value(depth), 1);
    EXPECT_EQ(a.value(depth), nullptr);
    EXPECT_EQ(d.value(other), nullptr);
    EXPECT_EQ(context::background().value(depth), nullptr);
    EXPECT_STREQ(user.name(), "user");
    cancel();
    EXPECT_TRUE(d.err()) << "a value's context ends with the one it was made from";
  };
  run(body);
  body();
}

TEST_P(Context, AValueLivesAsLongAsItsContexts) {
  static constexpr vole::context_key<std::shared_ptr<int>> key{"counted"};
  auto counted = std::make_shared<int>(1);
  {
    context below;
    {
      const context c = vole::with_value(context::background(), key, counted);
      below = vole::with_value(c, depth, 1);
    }
    EXPECT_EQ(counted.use_count(), 2);
    EXPECT_EQ(*below.value(key), counted);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST_P(Context, WithoutCancelKeepsTheValuesOnly) {
  run([] {
    auto [top, cancel] = vole::with_timeout(context::background(), std::chrono::hours(1));
    const context named = vole::with_value(top, user, "vole");
    const context free = vole::without_cancel(named);
    auto [below, cancel_below] = vole::with_cancel(free);
    cancel();
    EXPECT_FALSE(free.err());
    EXPECT_FALSE(below.err());
    EXPECT_FALSE(below.deadline().has_value());
    EXPECT_TRUE(free.done() == nullptr);
    EXPECT_EQ(*below.value(user), "vole");
  });
}

TEST_P(Context, StopTokenFollows) {
  const auto body = [] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    const std::stop_token token = ctx.stop_token();
    EXPECT_TRUE(token.stop_possible());
    EXPECT_EQ(token, ctx.stop_token()) << "one for all who ask";
    bool called = false, done = false;
    const std::stop_callback callback(token, [&, c = ctx] {
      called = true;
      done = closed(c) && c.err() == errc::canceled;
    });
    EXPECT_FALSE(token.stop_requested());
    cancel();
    EXPECT_TRUE(token.stop_requested());
    EXPECT_TRUE(called && done);
    auto [second, cancel_second] = vole::with_cancel(ctx);
    EXPECT_TRUE(second.stop_token().stop_requested()) << "asked for afterwards";
  };
  run([body] { everywhere(body); });
  body();
}

TEST_P(Context, WithStopToken) {
  const auto body = [] {
    std::stop_source source;
    auto [ctx, cancel] = vole::with_stop_token(context::background(), source.get_token());
    auto [child, cancel_child] = vole::with_cancel(ctx);
    const std::stop_token below = child.stop_token();
    EXPECT_FALSE(ctx.err());
    source.request_stop();
    EXPECT_EQ(ctx.err(), errc::canceled);
    EXPECT_TRUE(closed(ctx));
    EXPECT_EQ(child.err(), errc::canceled);
    while (!below.stop_requested()) vole::yield();
    auto [late, cancel_late] = vole::with_stop_token(context::background(), source.get_token());
    EXPECT_TRUE(late.err());
    auto [never, cancel_never] = vole::with_stop_token(context::background(), std::stop_token());
    EXPECT_FALSE(never.err());
    cancel_never();
    EXPECT_TRUE(never.err());
  };
  run([body] { everywhere(body); });
  body();
}

TEST_P(Context, AStopSourceMayOutliveTheContext) {
  run([] {
    std::stop_source source;
    for (int i = 0; i < 100; ++i) {
      auto [ctx, cancel] = vole::with_stop_token(context::background(), source.get_token());
      if (i == 50) source.request_stop();
      EXPECT_EQ(static_cast<bool>(ctx.err()), i >= 50);
    }
  });
}

TEST_P(Context, Hashes) {
  auto [ctx, cancel] = vole::with_cancel(context::background());
  std::unordered_set<context> set{ctx, context::background(), ctx};
  EXPECT_EQ(set.size(), 2u);
  EXPECT_TRUE(set.contains(ctx));
}

}  // namespace
