// cancelable: what may be done with the context in it. What may not is in tests/compile_fail.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fixture.h"

namespace {

using namespace std::chrono_literals;
using vole::context;

class Cancelable : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Cancelable);

context copied(const vole::cancelable& c) { return c.ctx; }
context copied_twice(const vole::cancelable& c) {
  auto x = c.ctx;
  return x;
}
bool is_live(const context& c) { return !c.err(); }
bool is_live_copy(context c) { return !c.err(); }  // NOLINT: by value

TEST_P(Cancelable, TheContextOfOneThatHasANameIsCopied) {
  run([] {
    vole::cancelable c = vole::with_timeout(context::background(), 1h);
    const vole::cancelable d = vole::with_timeout(c.ctx, 1h);
    context a = c.ctx;
    auto b = d.ctx;
    EXPECT_EQ(copied(c), a);
    EXPECT_EQ(copied_twice(d), b);
    EXPECT_NE(c.ctx, d.ctx);
    a = d.ctx;
    EXPECT_EQ(a, d.ctx);
    b = c.ctx;
    a = std::move(b);
    EXPECT_EQ(a, c.ctx);
    EXPECT_TRUE(is_live(c.ctx) && is_live_copy(d.ctx));
    const context chosen = c.ctx.err() ? context::background() : c.ctx;
    EXPECT_EQ(chosen, c.ctx);
    EXPECT_TRUE(d.ctx.deadline() && d.ctx.done() != nullptr && d.ctx.cause() == nullptr);
    EXPECT_FALSE(d.ctx.stop_token().stop_requested());
    EXPECT_EQ(std::hash<context>{}(c.ctx), std::hash<context>{}(a));
  });
}

TEST_P(Cancelable, IsBoundToNames) {
  run([] {
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1h);
    auto held = std::make_unique<int>(0);
    auto live = vole::spawn([ctx = ctx, held = std::move(held)]() mutable {
      return is_live_copy(std::move(ctx));
    });
    EXPECT_TRUE(live.join());
    const vole::cancelable d = vole::with_cancel(ctx);
    const auto& [below, cancel_below] = d;
    EXPECT_EQ(below, d.ctx);
    cancel_below();
    EXPECT_TRUE(below.err());
    vole::cancelable e = vole::with_cancel(ctx);
    auto& [again, cancel_again] = e;
    const vole::cancel_function moved = std::move(cancel_again);
    EXPECT_TRUE(is_live(again));
    cancel();
    EXPECT_TRUE(again.err());
  });
}

TEST_P(Cancelable, MovesAndCancelsWhatItHad) {
  run([] {
    vole::cancelable c = vole::with_cancel(context::background());
    const context first = c.ctx;
    vole::cancelable d = std::move(c);
    EXPECT_EQ(d.ctx, first);
    EXPECT_TRUE(is_live(first));
    d = vole::with_cancel(context::background());
    EXPECT_TRUE(first.err()) << "its cancel_function was overwritten";
    EXPECT_TRUE(is_live(d.ctx));
    std::vector<vole::cancelable> many(2);
    many.push_back(std::move(d));
    many.erase(many.begin(), many.begin() + 2);
    EXPECT_TRUE(is_live(many.front().ctx));
    const context last = many.front().ctx;
    many.clear();
    EXPECT_TRUE(last.err());
  });
}

// It lives to the end of the statement: long enough for a call.
TEST_P(Cancelable, ATemporaryServesACall) {
  run([] { EXPECT_TRUE(is_live(vole::with_timeout(context::background(), 1h).ctx)); });
}

}  // namespace
