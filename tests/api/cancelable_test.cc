// cancelable: what may be done with the context in it. What may not is in tests/compile_fail.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <chrono>
#include <functional>
#include <memory>
#include <type_traits>
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

// cancelable is a struct of two members, as documented.
static_assert(std::is_same_v<decltype(vole::cancelable::ctx), context>);
static_assert(std::is_same_v<decltype(vole::cancelable::cancel), vole::cancel_function>);
static_assert(std::is_aggregate_v<vole::cancelable>);

inline constexpr vole::context_key<int> number{"number"};

TEST_P(Cancelable, ItsContextIsOneLikeAnyOther) {
  run([] {
    vole::cancelable k = vole::with_cancel(context::background());
    const context was = k.ctx;
    auto y = k.ctx;
    y = vole::with_value(y, number, 1);
    EXPECT_EQ(*y.value(number), 1);
    k.ctx = vole::with_value(k.ctx, number, 2);
    EXPECT_EQ(*k.ctx.value(number), 2);
    const context moved = std::move(k.ctx);
    EXPECT_EQ(*moved.value(number), 2);
    k.cancel();
    EXPECT_TRUE(was.err() && y.err() && moved.err());
  });
}

TEST_P(Cancelable, SoIsThatOfAResultWithoutAType) {
  run([] {
    auto k = vole::with_cancel(context::background());
    const context was = k.ctx;
    auto y = k.ctx;
    y = vole::with_value(y, number, 1);
    k.ctx = vole::with_value(k.ctx, number, 2);
    EXPECT_EQ(*context(std::move(y)).value(number), 1);
    auto& [ctx, cancel] = k;
    EXPECT_EQ(ctx, k.ctx);
    ctx = vole::with_value(ctx, number, 3);
    EXPECT_EQ(*k.ctx.value(number), 3);
    auto live = vole::spawn(is_live_copy, k.ctx);
    EXPECT_TRUE(live.join());
    vole::cancelable typed = std::move(k);
    EXPECT_EQ(*typed.ctx.value(number), 3);
    EXPECT_TRUE(is_live(was));
    typed = vole::with_timeout(context::background(), 1h);
    EXPECT_TRUE(was.err());
  });
}

TEST_P(Cancelable, ANameThatIsBoundCanBeAssignedToAndMoved) {
  run([] {
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1h);
    static_assert(std::is_same_v<decltype(ctx), context>);
    const context was = ctx;
    ctx = vole::with_value(ctx, number, 1);
    const context moved = std::move(ctx);
    EXPECT_EQ(*moved.value(number), 1);
    cancel();
    EXPECT_TRUE(was.err() && moved.err());
  });
}

// It lives to the end of the statement: long enough for a call.
TEST_P(Cancelable, ATemporaryServesACall) {
  run([] {
    EXPECT_TRUE(is_live(vole::with_timeout(context::background(), 1h).ctx));
    const vole::chan<int> c;
    EXPECT_EQ(c.recv(vole::with_timeout(context::background(), 1ns).ctx).status,
              vole::chan_status::canceled);
    EXPECT_EQ(vole::select(vole::on_recv(c), vole::on_done(vole::with_timeout(
                                                 context::background(), 1ns).ctx)), 1u);
  });
}

}  // namespace
