// signal_context, ignore_signal, reset_signal: real signals.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

using vole::context;
using vole::signal_context;
using vole::signal_notify;

class SignalContext : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(SignalContext);

void (*handler_of(int number))(int) {
  struct sigaction now {};
  sigaction(number, nullptr, &now);
  return now.sa_handler;
}

// 0: no signal.
int signal_of(const context& ctx) {
  try {
    if (ctx.cause() != nullptr) std::rethrow_exception(ctx.cause());
  } catch (const vole::signal_received& s) {
    return s.number();
  } catch (const std::exception&) {
  }
  return 0;
}

TEST_P(SignalContext, ASignalCancelsItAndIsTheCause) {
  run([] {
    auto [ctx, cancel] = signal_context(context::background(), {SIGUSR1, SIGUSR2});
    auto [below, cancel_below] = vole::with_cancel(ctx);
    vole::chan<> called;
    (void)vole::after_func(below, [called] { called.close(); });
    const std::stop_token token = below.stop_token();
    EXPECT_FALSE(ctx.err());
    std::raise(SIGUSR2);
    below.done().recv();
    EXPECT_EQ(below.err(), vole::errc::canceled);
    EXPECT_EQ(signal_of(ctx), SIGUSR2);
    EXPECT_EQ(signal_of(below), SIGUSR2);
    called.recv();
    while (!token.stop_requested()) vole::yield();
  });
}

TEST_P(SignalContext, TheSignalIsHeardUntilCancelIsCalled) {
  run([] {
    auto [ctx, cancel] = signal_context(context::background(), {SIGUSR1});
    std::raise(SIGUSR1);
    ctx.done().recv();
    std::raise(SIGUSR1);  // does nothing
    EXPECT_NE(handler_of(SIGUSR1), SIG_DFL);
    cancel();
    EXPECT_EQ(handler_of(SIGUSR1), SIG_DFL);
    cancel();
    EXPECT_EQ(signal_of(ctx), SIGUSR1);
  });
}

TEST_P(SignalContext, EndsWithItsScopeAndWithItsParent) {
  run([] {
    {
      auto [ctx, cancel] = signal_context(context::background(), {SIGUSR1});
      EXPECT_NE(handler_of(SIGUSR1), SIG_DFL);
    }
    EXPECT_EQ(handler_of(SIGUSR1), SIG_DFL);
    auto [parent, cancel_parent] = vole::with_cancel(context::background());
    auto [ctx, cancel] = signal_context(parent, {SIGUSR1});
    cancel_parent();
    EXPECT_EQ(ctx.err(), vole::errc::canceled);
    std::raise(SIGUSR1);
    auto [later, cancel_later] = signal_context(parent, {SIGUSR1});  // of one that is cancelled
    EXPECT_TRUE(later.err());
    EXPECT_EQ(signal_of(ctx), 0);
  });
}

TEST_P(SignalContext, AllWhoWantItGetIt) {
  run([] {
    const vole::chan<int> c(1);
    const auto r = signal_notify(c, {SIGUSR1});
    auto [one, cancel_one] = signal_context(context::background(), {SIGUSR1});
    auto [two, cancel_two] = signal_context(context::background(), {SIGUSR1, SIGUSR2});
    std::raise(SIGUSR1);
    EXPECT_EQ(c.recv(), SIGUSR1);
    one.done().recv();
    two.done().recv();
  });
}

TEST_P(SignalContext, NoRuntimeIsNeeded) {
  std::optional<vole::cancelable> made(signal_context(context::background(), {SIGUSR1}));
  const context ctx = made->ctx;
  vole::chan<> gone;
  const std::stop_callback end(ctx.stop_token(), [&] {
    made.reset();  // on the thread that tells of signals, which ends with the last of us
    gone.close();
  });
  std::raise(SIGUSR1);
  ctx.done().recv();
  gone.recv();
  EXPECT_EQ(signal_of(ctx), SIGUSR1);
  EXPECT_EQ(handler_of(SIGUSR1), SIG_DFL);
  EXPECT_EQ(vole::stats().procs, 0) << "none was started";
}

// Signals come while runtimes end, and while contexts end.
TEST_P(SignalContext, WhileRuntimesEnd) {
  for (int i = 0; i < 60; ++i) {
    std::vector<vole::cancelable> kept;
    vole::run([&] {
      for (int k = 0; k < 3; ++k) kept.push_back(signal_context(context::background(), {SIGUSR1}));
      std::raise(SIGUSR1);
      for (int k = i % 4; k > 0; --k) vole::yield();
    });
    if (i % 2 == 0) std::raise(SIGUSR1);
    if (i % 3 == 0) kept.front().ctx.done().recv();
  }
  allow_zombies();
}

TEST_P(SignalContext, WhatCannotBeHeardIsRefused) {
  run([] {
    for (const int n : {SIGKILL, SIGSEGV, 0, 65, 32}) {
      EXPECT_THROW((void)signal_context(context::background(), {n}), std::invalid_argument);
      EXPECT_THROW(vole::ignore_signal(n), std::invalid_argument);
      EXPECT_THROW(vole::reset_signal(n), std::invalid_argument);
    }
    EXPECT_THROW((void)signal_context(context::background(), {}), std::invalid_argument);
  });
}

// Once `marker` has been told of, so has whatever came before it.
void until_told(int marker, const vole::chan<int>& told) {
  std::raise(marker);
  EXPECT_EQ(told.recv(), marker);
}

TEST_P(SignalContext, AnIgnoredOneDoesNothing) {
  run([] {
    const vole::chan<int> c(4), told(1);
    const auto marker = signal_notify(told, {SIGUSR2});
    auto r = signal_notify(c, {SIGUSR1, SIGHUP});
    auto [ctx, cancel] = signal_context(context::background(), {SIGUSR1});
    vole::ignore_signal(SIGUSR1);
    EXPECT_EQ(handler_of(SIGUSR1), SIG_IGN);
    std::raise(SIGUSR1);
    until_told(SIGUSR2, told);
    EXPECT_EQ(c.size(), 0u);
    EXPECT_FALSE(ctx.err());
    std::raise(SIGHUP);
    EXPECT_EQ(c.recv(), SIGHUP) << "of the others it still hears";
    {
      const auto later = signal_notify(c, {SIGUSR1});
      std::raise(SIGUSR1);
      EXPECT_EQ(c.recv(), SIGUSR1) << "one that is made later gets it";
    }
    EXPECT_EQ(handler_of(SIGUSR1), SIG_DFL);
    vole::ignore_signal(SIGUSR1);
    vole::ignore_signal(SIGUSR1);
    r.stop();
    cancel();
    EXPECT_EQ(handler_of(SIGUSR1), SIG_IGN) << "also when nobody listens any more";
    vole::reset_signal(SIGUSR1);
    EXPECT_EQ(handler_of(SIGUSR1), SIG_DFL);
  });
}

std::atomic<int> handled{0};
void count_it(int) { handled.fetch_add(1); }

TEST_P(SignalContext, ResetBringsBackWhatWasThereBefore) {
  run([] {
    handled = 0;
    std::signal(SIGUSR1, count_it);
    vole::reset_signal(SIGUSR1);
    EXPECT_EQ(handler_of(SIGUSR1), &count_it) << "none of ours: left alone";
    const vole::chan<int> c(4);
    auto r = signal_notify(c, {SIGUSR1});
    auto [ctx, cancel] = signal_context(context::background(), {SIGUSR1});
    vole::reset_signal(SIGUSR1);
    std::raise(SIGUSR1);
    EXPECT_EQ(handled, 1);
    vole::ignore_signal(SIGUSR1);
    std::raise(SIGUSR1);
    EXPECT_EQ(handled, 1);
    vole::reset_signal(SIGUSR1);
    std::raise(SIGUSR1);
    EXPECT_EQ(handled, 2);
    std::signal(SIGUSR1, SIG_IGN);
    r.stop();
    cancel();
    vole::reset_signal(SIGUSR1);
    EXPECT_EQ(handler_of(SIGUSR1), SIG_IGN) << "the program's own";
    std::signal(SIGUSR1, SIG_DFL);
    EXPECT_EQ(c.size(), 0u);
    EXPECT_EQ(signal_of(ctx), 0);
  });
}

}  // namespace
