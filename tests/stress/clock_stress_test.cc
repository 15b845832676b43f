// timer and ticker: stop and reset against a clock that is just due, with receivers.
//
// Law    a round of a timer ends in exactly one way: its value was received, or stop (reset) said
//        true. A value belongs to the round in which it is received: it is not earlier than that
//        round's due time.
// Note   times are drawn from around what the other side takes, so that all orders are frequent.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

using namespace std::chrono_literals;
using vole::chan_status;
using vole_test::dice;

VOLE_STRESS(ClockStress);

vole::duration short_time(dice& d) { return vole::duration(d.below(100'000)); }

void linger(dice& d) {
  switch (d.below(3)) {
    case 0: return vole::yield();
    case 1: return vole::sleep_for(short_time(d));
    default:
      for (std::uint32_t i = d.below(200); i > 0; --i)
        std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

struct tally {
  std::atomic<std::uint64_t> rounds{0}, heard{0}, stopped{0}, stale{0};
};

// One owner stops and resets; another party receives.
void own(dice d, const vole_test::time_limit& limit, vole::timer& t, tally& all) {
  while (!limit.over() || all.heard == 0) {
    if (t.reset(short_time(d))) ++all.stopped;  // the round before
    ++all.rounds;
    linger(d);
    if (d.below(2) == 0) {
      if (t.stop()) ++all.stopped;
      if (t.channel().try_recv()) ++all.stale;
      if (t.reset(1h)) ++all.stale;  // nothing can have been pending
      ++all.rounds;
    }
  }
  if (t.stop()) ++all.stopped;
}

void race(bool plain_receiver) {
  tally all;
  const vole_test::time_limit limit;
  vole::run([&] {
    vole::timer t(1h);
    ++all.rounds;
    const vole::chan<> enough;
    const auto receive = [&, c = t.channel()] {
      for (;;) {
        std::optional<vole::time_point> v;
        if (vole::select(vole::on_recv(c, v), vole::on_recv(enough)) == 1) return;
        ++all.heard;
        if (*v > vole::now()) ++all.stale;
      }
    };
    std::vector<std::thread> threads;
    vole::wait_group receivers;
    receivers.go(receive);
    if (plain_receiver) threads.emplace_back(receive);
    own(dice(1), limit, t, all);
    enough.close();
    receivers.wait();
    for (std::thread& p : threads) p.join();
    EXPECT_EQ(t.channel().try_recv().status, chan_status::would_block);
  });
  EXPECT_EQ(all.rounds, all.heard + all.stopped) << "a value was lost, or heard twice";
  EXPECT_EQ(all.stale, 0u);
  EXPECT_GT(all.heard, 0u);
}

TEST_P(ClockStress, EachRoundIsHeardOrStopped) {
  race(false);
  expect_clean();
}

TEST_P(ClockStress, EachRoundIsHeardOrStoppedOnAPlainThread) {
  race(true);
  expect_clean();
}

// The only receiver is the owner: after a reset, what comes is not earlier than its due time.
TEST_P(ClockStress, NoValueIsOlderThanTheLastReset) {
  const vole_test::time_limit limit;
  vole::run([&] {
    vole::wait_group owners;
    for (std::uint64_t i = 0; i < 4; ++i)
      owners.go([&, i] {
        vole::timer t(0s);
        for (dice d(10 + i); !limit.over();) {
          const vole::duration wait = short_time(d);
          const vole::time_point due = vole::now() + wait;
          t.reset(wait);
          if (d.below(2) == 0) linger(d);
          if (d.below(4) == 0) continue;
          const auto v = t.channel().recv();
          EXPECT_GE(*v, due) << "stale";
        }
      });
    owners.wait();
  });
  expect_clean();
}

// Tickers on all Ps, fired by owners and thieves, stopped from elsewhere while they tick.
TEST_P(ClockStress, TickersAreStoppedWhileTheyTick) {
  const vole_test::time_limit limit;
  vole::run([&] {
    vole::wait_group owners;
    for (std::uint64_t i = 0; i < 8; ++i)
      owners.go([&, i] {
        for (dice d(20 + i); !limit.over();) {
          vole::ticker t(vole::duration(1 + d.below(20'000)));
          for (std::uint32_t n = d.below(6); n > 0; --n) {
            const vole::time_point start = vole::now();
            const vole::duration period(1 + d.below(20'000));
            t.reset(period);
            linger(d);
            if (d.below(3) != 0) {
              EXPECT_GE(t.channel().recv(), start + period) << "stale";
            }
            if (d.below(2) == 0) {
              EXPECT_TRUE(t.stop());
              EXPECT_EQ(t.channel().try_recv().status, chan_status::would_block) << "stale";
            }
          }
        }
      });
    owners.wait();
  });
  expect_clean();
}

// Several parties stop and reset the same ticker, some of them plain threads, while Ps come and go.
TEST_P(ClockStress, ManyHandsOnOneTickerWhileTheWorldChanges) {
  const vole_test::time_limit limit;
  vole::run([&] {
    vole::ticker t(10us);
    vole::timer once(10us);
    const auto meddle = [&](std::uint64_t stream) {
      for (dice d(stream); !limit.over();) {
        switch (d.below(5)) {
          case 0: t.stop(); break;
          case 1: t.reset(vole::duration(1 + d.below(50'000))); break;
          case 2: once.reset(short_time(d)); break;
          case 3: once.stop(); break;
          default: (void)t.channel().try_recv(), (void)once.channel().try_recv();
        }
        linger(d);
      }
    };
    vole::wait_group hands;
    for (std::uint64_t i = 0; i < 4; ++i) hands.go([&, i] { meddle(30 + i); });
    std::thread plain([&] { meddle(40); });
    for (dice d(50); !limit.over(); vole::sleep_for(short_time(d)))
      vole::set_max_procs(1 + static_cast<int>(d.below(8)));
    plain.join();
    hands.wait();
    t.stop();
    once.stop();
    EXPECT_EQ(t.channel().try_recv().status, chan_status::would_block);
    EXPECT_EQ(once.channel().try_recv().status, chan_status::would_block);
  });
  expect_clean();
}

// Channels of after() dropped when they are just due.
TEST_P(ClockStress, AfterIsDroppedWhenDue) {
  const vole_test::time_limit limit;
  vole::run([&] {
    vole::wait_group all;
    for (std::uint64_t i = 0; i < 4; ++i)
      all.go([&, i] {
        for (dice d(60 + i); !limit.over();) {
          const auto c = vole::after(short_time(d));
          linger(d);
          if (d.below(2) == 0) (void)c.recv_for(short_time(d));
        }
      });
    all.wait();
  });
  expect_clean();
}

// The runtime ends among timers that are just due; what outlives it works in the next.
TEST_P(ClockStress, TheEndMeetsTheClock) {
  const vole_test::time_limit limit;
  dice d(70);
  vole::timer lasting(1h);
  vole::ticker ticking(1h);
  while (!limit.over()) {
    vole::set_max_procs(procs());
    vole::run([&] {
      lasting.reset(short_time(d));
      ticking.reset(vole::duration(1 + d.below(30'000)));
      if (d.below(2) == 0) lasting.channel().recv();
      vole::sleep_for(short_time(d));
    });
    if (d.below(3) == 0) {
      lasting.stop();
      ticking.stop();
      ASSERT_EQ(lasting.channel().try_recv().status, chan_status::would_block);
      ASSERT_EQ(ticking.channel().try_recv().status, chan_status::would_block);
    }
  }
  expect_clean();
}

}  // namespace
