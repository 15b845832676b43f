// timer and after: one value, not early; nothing stale after stop and reset.
//
// Note   an hour stands for "not while this test runs"; nothing here measures how late.

#include <vole/vole.h>

#include <chrono>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "fixture.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::chan_status;
using vole::now;

class Timer : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Timer);

static_assert(!std::is_copy_constructible_v<vole::timer> &&
              !std::is_copy_assignable_v<vole::timer>);
static_assert(std::is_nothrow_move_constructible_v<vole::timer> &&
              std::is_nothrow_move_assignable_v<vole::timer>);
static_assert(!std::is_convertible_v<vole::duration, vole::timer>);

bool nothing_there(const vole::timer& t) {
  return t.channel().try_recv().status == chan_status::would_block;
}

// Until its value is there, unreceived: nothing tells, so one that was added behind it has come.
void wait_past(vole::duration d) { (void)*vole::after(d).recv(); }

void expect_fires_once_and_not_early() {
  const vole::time_point due = now() + 2ms;
  vole::timer t(2ms);
  const std::optional<vole::time_point> came = t.channel().recv();
  ASSERT_TRUE(came.has_value());
  EXPECT_GE(*came, due);
  EXPECT_LE(*came, now());
  EXPECT_TRUE(nothing_there(t));
  EXPECT_FALSE(t.stop()) << "it has fired, and was heard";
}

TEST_P(Timer, FiresOnceAndNotEarly) {
  run([] { expect_fires_once_and_not_early(); });
}

TEST_P(Timer, FromAPlainThreadItStartsTheRuntime) {
  expect_fires_once_and_not_early();
  vole::shutdown();
  expect_fires_once_and_not_early();
}

TEST_P(Timer, NotPositiveFiresAtOnce) {
  run([] {
    for (const vole::duration d : {vole::duration(0), vole::duration(-1h), vole::duration::min()}) {
      vole::timer t(d);
      EXPECT_TRUE(t.channel().try_recv());
      EXPECT_FALSE(t.reset(d));
      EXPECT_TRUE(t.channel().try_recv());
      EXPECT_TRUE(vole::after(d).try_recv());
    }
  });
}

TEST_P(Timer, ResetToThePastServesWhoWaits) {
  run([] {
    vole::timer t(1h);
    auto receiver = vole::spawn([c = t.channel()] { return c.recv().has_value(); });
    vole_test::wait_until_parked(1, "chan receive");
    EXPECT_TRUE(t.reset(0s));
    EXPECT_TRUE(receiver.join());
  });
}

TEST_P(Timer, LooksUnbuffered) {
  run([] {
    vole::timer t(0s);
    EXPECT_EQ(t.channel().size(), 0u);
    EXPECT_EQ(t.channel().capacity(), 0u);
    EXPECT_TRUE(t.channel() == t.channel());
    EXPECT_TRUE(t.channel().try_recv());
  });
}

TEST_P(Timer, StopSaysWhetherItWasPending) {
  run([] {
    vole::timer t(1h);
    EXPECT_TRUE(t.stop());
    EXPECT_FALSE(t.stop());
    EXPECT_TRUE(nothing_there(t));
  });
}

TEST_P(Timer, StopTakesBackAValueThatNobodyReceived) {
  run([] {
    vole::timer t(1us);
    wait_past(1ms);
    EXPECT_TRUE(t.stop()) << "unheard counts as pending";
    EXPECT_TRUE(nothing_there(t)) << "stale";
    EXPECT_FALSE(t.stop());
  });
}

TEST_P(Timer, ResetTakesBackAValueThatNobodyReceived) {
  run([] {
    vole::timer t(1us);
    wait_past(1ms);
    EXPECT_TRUE(t.reset(1h));
    EXPECT_TRUE(nothing_there(t)) << "stale";
    EXPECT_TRUE(t.reset(1us));
    EXPECT_TRUE(t.channel().recv().has_value());
    EXPECT_FALSE(t.reset(1us)) << "fired and heard";
    EXPECT_TRUE(t.channel().recv().has_value());
  });
}

TEST_P(Timer, ResetAfterStopWorks) {
  run([] {
    vole::timer t(1h);
    const auto c = t.channel();
    for (int i = 0; i < 100; ++i) {
      t.stop();
      const vole::time_point due = now() + 10us;
      EXPECT_FALSE(t.reset(10us));
      EXPECT_GE(c.recv(), due);
    }
  });
}

TEST_P(Timer, HugeTimesAreNever) {
  run([] {
    for (const vole::duration d : {vole::duration::max(), vole::duration::max() - 1ns}) {
      vole::timer t(d);
      vole::timer soon(1ms);
      EXPECT_EQ(vole::select(vole::on_recv(t.channel()), vole::on_recv(soon.channel())), 1u);
      EXPECT_TRUE(t.reset(d));
      EXPECT_TRUE(t.stop());
    }
  });
}

// So far that a kernel, told to wait that long, might refuse.
TEST_P(Timer, CenturiesAreNotRefused) {
  const auto far = std::chrono::hours(24 * 365 * 250L);
  const vole::duration last = vole::duration::max() - now().time_since_epoch() - 1h;
  for (const vole::duration d : {vole::duration(far), last}) {
    vole::timer t(d);  // waited for by an idle runtime
    EXPECT_EQ(t.channel().recv_for(1ms).status, chan_status::timeout);
    run([d] {
      vole::timer alone(d);
      vole::sleep_for(1ms);
      EXPECT_TRUE(alone.stop());
    });
  }
}

TEST_P(Timer, DestroyingItStopsItAndTheChannelStays) {
  run([] {
    std::optional<vole::timer> t(std::in_place, 1ms);
    const auto c = t->channel();
    t.reset();
    EXPECT_EQ(c.recv_for(5ms).status, chan_status::timeout);
  });
}

TEST_P(Timer, Moves) {
  run([] {
    vole::timer a(1h);
    const auto c = a.channel();
    vole::timer b(std::move(a));
    EXPECT_TRUE(b.channel() == c);
    EXPECT_TRUE(a.channel() == nullptr);  // NOLINT: what a moved-from one does is said
    EXPECT_FALSE(a.stop());
    EXPECT_FALSE(a.reset(0s));
    vole::timer d(0s);
    const auto unheard = d.channel();
    d = std::move(b);
    EXPECT_EQ(unheard.try_recv().status, chan_status::would_block) << "assigning stops the old one";
    EXPECT_TRUE(d.channel() == c);
    d = std::move(*&d);
    EXPECT_TRUE(d.stop());
  });
}

TEST_P(Timer, InSelectWithAChannel) {
  run([] {
    const vole::chan<int> values;
    vole::timer t(1h);
    auto sender = vole::spawn([values] { values.send(7); });
    std::optional<int> v;
    EXPECT_EQ(vole::select(vole::on_recv(t.channel()), vole::on_recv(values, v)), 1u);
    sender.join();
    t.reset(1us);
    std::optional<vole::time_point> when;
    EXPECT_EQ(vole::select(vole::on_recv(t.channel(), when), vole::on_recv(values, v)), 0u);
    EXPECT_TRUE(when.has_value());
  });
}

TEST_P(Timer, OneOfManyReceiversGetsTheValue) {
  run([] {
    vole::timer t(1h);
    const vole::chan<int> got(4);
    const vole::chan<> enough;
    vole::wait_group all;
    for (int i = 0; i < 4; ++i)
      all.go([c = t.channel(), got, enough, i] {
        vole::select(vole::on_recv(c, [&] { got.send(i); }), vole::on_recv(enough));
      });
    t.reset(1us);
    got.recv();
    enough.close();
    all.wait();
    EXPECT_EQ(got.size(), 0u);
  });
}

TEST_P(Timer, Thousands) {
  run([] {
    std::vector<vole::timer> timers;
    for (int i = 0; i < 2000; ++i) timers.emplace_back((i * 7919 % 2000) * 1us);
    for (vole::timer& t : timers) EXPECT_TRUE(t.channel().recv().has_value());
  });
}

TEST_P(Timer, APlainThreadReceives) {
  vole::timer t(1ms);
  std::thread([&t] { EXPECT_TRUE(t.channel().recv().has_value()); }).join();
  EXPECT_FALSE(t.reset(1ms));
  EXPECT_EQ(vole::select(vole::on_recv(t.channel())), 0u);
}

// Forgotten with the runtime it was started in; stop and reset work on, in the next and in none.
TEST_P(Timer, OutlivesTheRuntime) {
  vole::timer forgotten(1h), unheard(0s);
  vole::shutdown();
  EXPECT_FALSE(forgotten.stop());
  EXPECT_TRUE(unheard.channel().try_recv());
  EXPECT_TRUE(nothing_there(forgotten));
  run([&] {
    EXPECT_FALSE(forgotten.reset(1us));
    EXPECT_TRUE(forgotten.channel().recv().has_value());
    forgotten.reset(1h);
  });
  EXPECT_FALSE(forgotten.reset(1us));
  EXPECT_TRUE(forgotten.channel().recv().has_value());
}

TEST_P(Timer, MadeInOneRuntimeAndDestroyedAfterIt) {
  std::vector<vole::timer> timers;
  run([&] {
    for (int i = 0; i < 100; ++i) timers.emplace_back(i % 2 == 0 ? vole::duration(1h) : 1us);
  });
}

TEST_P(Timer, AfterSendsOnce) {
  run([] {
    const vole::time_point due = now() + 1ms;
    const auto c = vole::after(1ms);
    EXPECT_GE(c.recv(), due);
    EXPECT_EQ(c.try_recv().status, chan_status::would_block);
    EXPECT_EQ(
        vole::select(vole::on_recv(vole::chan<int>(nullptr)), vole::on_recv(vole::after(1us))), 1u);
  });
}

TEST_P(Timer, AfterThatNobodyHoldsIsReleased) {
  run([] {
    for (int i = 0; i < 100'000; ++i) (void)vole::after(1h);  // a sanitizer would count them
    for (int i = 0; i < 1000; ++i) (void)vole::after(vole::duration(i * 100));
  });
}

}  // namespace
