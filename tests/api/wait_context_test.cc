// Contexts in sleep_for, sleep_until, join and group::wait: they end the wait, and nothing else.

#include <vole/vole.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <system_error>

#include "fixture.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::context;
using vole::errc;

class WaitContext : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(WaitContext);

std::error_code code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::system_error& e) {
    return e.code();
  }
  return {};
}

// `wait` is left with errc::canceled when its context is cancelled while it waits, and when it was
// cancelled before.
void expect_ended(const std::function<void(const context&)>& wait) {
  vole::cancelable scope = vole::with_cancel(context::background());
  auto waiting = vole::spawn([&] { return code_of([&] { wait(scope.ctx); }); });
  vole::yield();  // perhaps it waits by now, perhaps not
  scope.cancel();
  EXPECT_EQ(waiting.join(), errc::canceled);
  EXPECT_EQ(code_of([&] { wait(scope.ctx); }), errc::canceled);
  vole::cancelable soon = vole::with_timeout(context::background(), 1ms);
  EXPECT_EQ(code_of([&] { wait(soon.ctx); }), errc::deadline_exceeded);
}

TEST_P(WaitContext, EndsASleep) {
  run([] {
    expect_ended([](const context& ctx) { vole::sleep_for(1h, ctx); });
    expect_ended([](const context& ctx) { vole::sleep_until(vole::now() + 1h, ctx); });
  });
}

TEST_P(WaitContext, ASleepLastsItsTime) {
  run([] {
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1h);
    std::error_code error = errc::closed;
    const auto before = vole::now();
    EXPECT_TRUE(vole::sleep_for(2ms, ctx, error));
    EXPECT_FALSE(error);
    EXPECT_TRUE(vole::sleep_until(before + 4ms, context::background(), error));
    EXPECT_GE(vole::now() - before, 4ms);
    vole::sleep_for(0s, ctx);
    cancel();
    EXPECT_FALSE(vole::sleep_for(1h, ctx, error));
    EXPECT_EQ(error, errc::canceled);
    EXPECT_FALSE(vole::sleep_for(0s, ctx, error)) << "cancelled before";
    EXPECT_FALSE(vole::sleep_until(vole::time_point::max(), ctx, error));
  });
}

// One that sleeps so when the runtime ends is abandoned like any other, and leaves nothing.
TEST_P(WaitContext, ASleepMayBeAbandoned) {
  vole::cancelable scope = vole::with_cancel(context::background());
  run([&] {
    vole::go([&] { vole::sleep_for(1h, scope.ctx); });
    vole_test::wait_until_parked(1, "chan receive");
  });
  scope.cancel();
}

TEST_P(WaitContext, EndsAJoinThatCanBeRepeated) {
  run([] {
    const vole::chan<int> go_on;
    auto answer = vole::spawn([go_on] { return *go_on.recv(); });
    expect_ended([&](const context& ctx) { (void)answer.join(ctx); });
    EXPECT_TRUE(answer.joinable());
    go_on.send(42);
    EXPECT_EQ(answer.join(context::background()), 42);
    EXPECT_FALSE(answer.joinable());
    EXPECT_THROW(answer.join(context::background()), std::logic_error);
    auto bad = vole::spawn([] { throw std::runtime_error("boom"); });
    EXPECT_THROW(bad.join(context::background()), std::runtime_error);
  });
}

TEST_P(WaitContext, EndsAWaitForAGroup) {
  run([] {
    const vole::chan<> go_on;
    vole::group g;
    g.go([go_on] { go_on.recv(); });
    expect_ended([&](const context& ctx) { g.wait(ctx); });
    EXPECT_FALSE(g.context().err()) << "the group goes on";
    auto [ctx, cancel] = vole::with_cancel(context::background());
    cancel();
    std::error_code error;
    EXPECT_FALSE(g.wait(ctx, error));
    EXPECT_EQ(error, errc::canceled);
    go_on.close();
    EXPECT_TRUE(g.wait(context::background(), error));
    EXPECT_FALSE(error);
    EXPECT_TRUE(g.context().err());
    vole::group bad;
    bad.go([] { throw std::runtime_error("boom"); });
    EXPECT_THROW(bad.wait(context::background()), std::runtime_error);
  });
}

}  // namespace
