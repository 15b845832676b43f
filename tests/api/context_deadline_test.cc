// context: deadlines.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

class Deadline : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Deadline);

using namespace std::chrono_literals;
using vole::context;
using vole::errc;

TEST_P(Deadline, EndsTheContext) {
  run([] {
    const auto begin = vole::now();
    auto [ctx, cancel] = vole::with_timeout(context::background(), 3ms);
    ASSERT_TRUE(ctx.deadline().has_value());
    EXPECT_GE(*ctx.deadline() - begin, 3ms);
    EXPECT_FALSE(ctx.done().recv().has_value());
    EXPECT_GE(vole::now(), *ctx.deadline());
    EXPECT_EQ(ctx.err(), errc::deadline_exceeded);
    EXPECT_EQ(ctx.err(), std::errc::timed_out);
    cancel();
    EXPECT_EQ(ctx.err(), errc::deadline_exceeded) << "the first one counts";
    try {
      std::rethrow_exception(ctx.cause());
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), errc::deadline_exceeded);
    }
  });
}

TEST_P(Deadline, InThePastEndsItAtOnce) {
  const auto body = [] {
    for (const vole::duration d : {vole::duration(0), vole::duration(-1h), vole::duration::min()}) {
      auto [ctx, cancel] = vole::with_timeout(context::background(), d);
      EXPECT_EQ(ctx.err(), errc::deadline_exceeded);
      EXPECT_EQ(ctx.done().try_recv().status, vole::chan_status::closed);
    }
    auto [top, cancel] = vole::with_cancel(context::background());
    cancel();
    auto [ctx, cancel_it] = vole::with_timeout(top, 0ms);
    EXPECT_EQ(ctx.err(), errc::canceled) << "the parent was first";
  };
  run(body);
  body();
}

TEST_P(Deadline, CancelBeatsIt) {
  run([] {
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1h);
    EXPECT_FALSE(ctx.err());
    cancel();
    EXPECT_EQ(ctx.err(), errc::canceled);
    EXPECT_TRUE(ctx.deadline().has_value());
  });
}

TEST_P(Deadline, TheEarlierOneWins) {
  run([] {
    const auto soon = vole::now() + 1h, later = soon + 1h;
    auto [top, cancel] = vole::with_deadline(context::background(), soon);
    auto [same, cancel_same] = vole::with_deadline(top, later);
    EXPECT_EQ(same.deadline(), soon);
    auto [plain, cancel_plain] = vole::with_cancel(same);
    EXPECT_EQ(plain.deadline(), soon);
    auto [shorter, cancel_shorter] = vole::with_timeout(plain, 1ms);
    EXPECT_LT(*shorter.deadline(), soon);
    shorter.done().recv();
    EXPECT_EQ(shorter.err(), errc::deadline_exceeded);
    EXPECT_FALSE(plain.err());
    const context named = vole::without_cancel(shorter);
    EXPECT_FALSE(named.deadline().has_value());
  });
}

TEST_P(Deadline, ReachesTheChildren) {
  run([] {
    auto [top, cancel] = vole::with_timeout(context::background(), 2ms);
    auto [child, cancel_child] = vole::with_cancel(top);
    auto [later, cancel_later] = vole::with_timeout(child, 1h);
    later.done().recv();
    EXPECT_EQ(later.err(), errc::deadline_exceeded);
    EXPECT_EQ(child.err(), errc::deadline_exceeded);
    EXPECT_EQ(top.err(), errc::deadline_exceeded);
  });
}

TEST_P(Deadline, NoneIsNone) {
  run([] {
    auto [a, cancel_a] = vole::with_deadline(context::background(), vole::time_point::max());
    EXPECT_FALSE(a.deadline().has_value());
    auto [b, cancel_b] = vole::with_timeout(context::background(), vole::duration::max());
    EXPECT_FALSE(b.deadline().has_value());
    EXPECT_FALSE(a.err());
    cancel_a();
    EXPECT_TRUE(a.err());
  });
}

TEST_P(Deadline, OnPlainThreadsStartsTheRuntime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([] {
      auto [ctx, cancel] = vole::with_timeout(context::background(), 2ms);
      EXPECT_FALSE(ctx.done().recv().has_value());
      EXPECT_EQ(ctx.err(), errc::deadline_exceeded);
    });
  for (std::thread& t : threads) t.join();
  vole::shutdown();
}

TEST_P(Deadline, ManyInAnyOrder) {
  run([] {
    const int n = vole_test::kSanitized ? 200 : 2000;
    std::vector<vole::cancelable> all;
    for (int i = 0; i < n; ++i)
      all.push_back(vole::with_timeout(context::background(),
                                       std::chrono::microseconds((i * 7919) % 5000)));
    for (const vole::cancelable& c : all) {
      c.ctx.done().recv();
      EXPECT_EQ(c.ctx.err(), errc::deadline_exceeded);
      EXPECT_GE(vole::now(), *c.ctx.deadline());
    }
  });
}

TEST_P(Deadline, AContextMayOutliveItsRuntime) {
  std::optional<vole::cancelable> kept, expired;
  for (int round = 0; round < 2; ++round) {
    vole::run([&] {
      kept.emplace(vole::with_timeout(context::background(), 1h));
      expired.emplace(vole::with_timeout(kept->ctx, 1ms));
      expired->ctx.done().recv();
    });
    EXPECT_EQ(expired->ctx.err(), errc::deadline_exceeded);
    EXPECT_FALSE(kept->ctx.err());
    if (round == 0) kept->cancel();
  }
  vole::run([&] {
    auto [child, cancel] = vole::with_cancel(kept->ctx);
    kept->cancel();
    EXPECT_EQ(child.err(), errc::canceled);
  });
}

TEST_P(Deadline, StopCallbacksRunOnAGoroutine) {
  run([] {
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1ms);
    std::atomic<std::uint64_t> id{0};
    const std::stop_callback callback(ctx.stop_token(), [&id] { id = vole::goroutine_id(); });
    while (id == 0) vole::yield();
    EXPECT_EQ(ctx.err(), errc::deadline_exceeded);
  });
}

TEST_P(Deadline, ABusyGoroutineIsToldAtItsNextLook) {
  run([] {
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1ms);
    while (!ctx.err()) {
      vole::checkpoint();
      vole::yield();
    }
    EXPECT_EQ(ctx.err(), errc::deadline_exceeded);
  });
}

std::string what(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& x) {
    return x.what();
  }
}

TEST_P(Deadline, TheCauseOfADeadlineIsTheOneGiven) {
  run([] {
    const auto late = std::make_exception_ptr(std::runtime_error("the backup took too long"));
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1ms, late);
    auto [below, cancel_below] = vole::with_cancel(ctx);
    auto [far, cancel_far] = vole::with_timeout(context::background(), 24h, late);
    EXPECT_EQ(far.cause(), nullptr);  // not ctx's: 1 ms may be over before we ask
    below.done().recv();
    EXPECT_EQ(below.err(), errc::deadline_exceeded);
    EXPECT_EQ(below.cause(), late);
    auto [past, cancel_past] = vole::with_deadline(context::background(), vole::now() - 1s, late);
    EXPECT_EQ(past.cause(), late);
    EXPECT_EQ(what(vole::with_timeout(context::background(), 0s).ctx.cause()).find("took"),
              std::string::npos);
  });
}

TEST_P(Deadline, TheCauseCountsOnlyIfThatDeadlineEndedIt) {
  run([] {
    const auto late = std::make_exception_ptr(std::runtime_error("late"));
    const auto other = std::make_exception_ptr(std::runtime_error("other"));
    auto [ctx, cancel] = vole::with_timeout(context::background(), 1h, late);
    cancel(other);
    EXPECT_EQ(ctx.err(), errc::canceled);
    EXPECT_EQ(ctx.cause(), other);
    auto [first, cancel_first] = vole::with_timeout(context::background(), 1ms, other);
    auto [later, cancel_later] = vole::with_timeout(first, 1h, late);
    later.done().recv();
    EXPECT_EQ(later.cause(), other) << "the parent's deadline was the earlier one";
  });
}

}  // namespace
