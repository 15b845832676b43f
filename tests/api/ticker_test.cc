// ticker: ticks in step, missed ones become one, nothing after stop.

#include <vole/vole.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include "fixture.h"

namespace {

using namespace std::chrono_literals;
using vole::chan_status;
using vole::now;

class Ticker : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Ticker);

static_assert(!std::is_copy_constructible_v<vole::ticker>);
static_assert(std::is_nothrow_move_constructible_v<vole::ticker>);

void expect_ticks_not_early(vole::ticker& t, vole::time_point start, vole::duration period, int n) {
  for (int i = 1; i <= n; ++i) {
    const std::optional<vole::time_point> tick = t.channel().recv();
    ASSERT_TRUE(tick.has_value());
    EXPECT_GE(*tick, start + i * period) << "tick " << i;
    EXPECT_LE(*tick, now());
  }
}

TEST_P(Ticker, TicksAndIsNeverAhead) {
  run([] {
    const vole::time_point start = now();
    vole::ticker t(200us);
    expect_ticks_not_early(t, start, 200us, 20);
    EXPECT_TRUE(t.stop());
  });
}

TEST_P(Ticker, FromAPlainThread) {
  const vole::time_point start = now();
  vole::ticker t(200us);
  expect_ticks_not_early(t, start, 200us, 5);
}

TEST_P(Ticker, MissedTicksBecomeOne) {
  run([] {
    vole::ticker t(1us);
    for (int round = 0; round < 5; ++round) {
      vole::sleep_for(3ms);  // thousands of them
      EXPECT_TRUE(t.channel().recv().has_value());
    }
    vole::sleep_for(3ms);
    t.stop();
    EXPECT_EQ(t.channel().try_recv().status, chan_status::would_block);
  });
}

TEST_P(Ticker, ANanosecondIsAPeriod) {
  run([] {
    vole::ticker t(1ns);
    vole::time_point last{};
    for (int i = 0; i < 100; ++i) {
      const auto tick = t.channel().recv();
      EXPECT_GT(*tick, last);
      last = *tick;
    }
  });
}

TEST_P(Ticker, StopEndsItAndResetGoesOn) {
  run([] {
    vole::ticker t(100us);
    t.channel().recv();
    EXPECT_TRUE(t.stop());
    EXPECT_EQ(t.channel().recv_for(2ms).status, chan_status::timeout);
    EXPECT_FALSE(t.stop());
    const vole::time_point start = now();
    EXPECT_FALSE(t.reset(300us));
    expect_ticks_not_early(t, start, 300us, 5);
    EXPECT_TRUE(t.reset(1h));
    EXPECT_EQ(t.channel().try_recv().status, chan_status::would_block);
    EXPECT_TRUE(t.reset(10us));
    t.channel().recv();
  });
}

TEST_P(Ticker, NotPositiveIsRefused) {
  run([] {
    EXPECT_THROW(vole::ticker(0ns), std::invalid_argument);
    EXPECT_THROW(vole::ticker(-1ns), std::invalid_argument);
    vole::ticker t(1h);
    EXPECT_THROW(t.reset(0ns), std::invalid_argument);
    EXPECT_THROW(t.reset(vole::duration::min()), std::invalid_argument);
    EXPECT_TRUE(t.stop()) << "a refused reset changes nothing";
  });
}

TEST_P(Ticker, HugePeriodsDoNotOverflow) {
  run([] {
    vole::ticker t(vole::duration::max());
    EXPECT_EQ(t.channel().recv_for(1ms).status, chan_status::timeout);
    EXPECT_TRUE(t.stop());
  });
}

TEST_P(Ticker, DestroyingItStopsIt) {
  run([] {
    std::optional<vole::ticker> t(std::in_place, 10us);
    const auto c = t->channel();
    c.recv();
    t.reset();
    EXPECT_EQ(c.recv_for(2ms).status, chan_status::timeout);
  });
}

TEST_P(Ticker, DrivesALoopWithSelect) {
  run([] {
    vole::ticker t(50us);
    vole::timer enough(10ms);
    int ticks = 0;
    for (bool on = true; on || ticks == 0;)
      vole::select(vole::on_recv(t.channel(), [&] { ++ticks; }),
                   vole::on_recv(enough.channel(), [&] { on = false; }));
  });
}

TEST_P(Ticker, TicksBesideAGoroutineThatNeverWaits) {
  run([] {
    vole::ticker t(1ms);
    const vole::chan<> enough;
    auto hog = vole::spawn([enough] {
      while (enough.try_recv().status == chan_status::would_block) {
      }
    });
    for (int i = 0; i < 3; ++i) t.channel().recv();
    enough.close();
    hog.join();
  });
}

TEST_P(Ticker, OutlivesTheRuntime) {
  vole::ticker t(20us);
  t.channel().recv();
  vole::shutdown();
  t.reset(20us);
  t.channel().recv();
  run([&] {
    t.reset(20us);
    t.channel().recv();
    t.channel().recv();
  });
}

}  // namespace
