// Timers against everything that may come at the same moment: a value, a close, a resize, the end.
//
// Note   waits are drawn from around the time that the other side takes, so that both
//        outcomes are frequent. Whichever wins, a value is received exactly once.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

using namespace std::chrono_literals;
using vole::chan_status;
using vole_test::dice;

VOLE_STRESS(TimerStress);

vole::duration short_time(dice& d) { return vole::duration(d.below(200'000)); }

struct tally {
  std::atomic<std::uint64_t> sent{0}, received{0}, sum_sent{0}, sum_received{0};
  std::atomic<std::uint64_t> gave_up{0};
};

void send_until_over(dice d, const vole_test::time_limit& limit, vole::send_chan<std::uint64_t> to,
                     tally& t) {
  while (!limit.over() || t.sent == 0) {
    const std::uint64_t v = d.below(1000);
    const chan_status s = d.below(3) == 0 ? to.try_send(v) : to.send_for(v, short_time(d));
    if (s == chan_status::ok) {
      ++t.sent;
      t.sum_sent += v;
    } else {
      ++t.gave_up;
      vole::yield();
    }
  }
}

void receive_until_closed(dice d, vole::recv_chan<std::uint64_t> from, tally& t) {
  for (;;) {
    vole::received<std::uint64_t> r;
    if (d.below(2) == 0) {
      r = from.recv_for(short_time(d));
    } else {
      r.status = chan_status::timeout;
      vole::select(vole::on_recv(from,
                                 [&](std::optional<std::uint64_t> v) {
                                   r.status = v ? chan_status::ok : chan_status::closed;
                                   r.value = v;
                                 }),
                   vole::on_after(short_time(d)));
    }
    if (r.status == chan_status::closed) return;
    if (!r) {
      ++t.gave_up;
      continue;
    }
    ++t.received;
    t.sum_received += *r;
  }
}

void race(std::size_t capacity) {
  const vole_test::time_limit limit;
  vole::run([&] {
    tally t;
    const vole::chan<std::uint64_t> c(capacity);
    vole::wait_group senders, receivers;
    for (std::uint64_t i = 0; i < 4; ++i) {
      senders.go([&, i] { send_until_over(dice(i), limit, c, t); });
      receivers.go([&, i] { receive_until_closed(dice(10 + i), c, t); });
    }
    std::thread plain_sender([&] { send_until_over(dice(20), limit, c, t); });
    std::thread plain_receiver([&] { receive_until_closed(dice(21), c, t); });
    senders.wait();
    plain_sender.join();
    c.close();
    receivers.wait();
    plain_receiver.join();
    EXPECT_EQ(t.sent, t.received);
    EXPECT_EQ(t.sum_sent, t.sum_received);
    EXPECT_GT(t.received, 0u);
  });
}

TEST_P(TimerStress, TimedReceivesRaceSends) {
  race(0);
  expect_clean();
}

TEST_P(TimerStress, TimedReceivesRaceSendsThroughABuffer) {
  race(3);
  expect_clean();
}

// One value and one deadline at the same moment, again and again.
TEST_P(TimerStress, ValueAndDeadlineMeet) {
  const vole_test::time_limit limit;
  vole::run([&] {
    dice d(30);
    int values = 0, timeouts = 0;
    do {
      const vole::chan<int> c;
      const vole::time_point due = vole::now() + vole::duration(20'000 + d.below(100'000));
      auto sender = vole::spawn([c, due] {
        vole::sleep_until(due);
        return c.try_send(1);
      });
      const vole::received<int> r = c.recv_until(due);
      const chan_status sent = sender.join();
      EXPECT_EQ(r.status == chan_status::ok, sent == chan_status::ok);
      if (r.status == chan_status::timeout) {
        EXPECT_GE(vole::now(), due);
      }
      ++(r ? values : timeouts);
    } while (!limit.over());
    EXPECT_GT(values + timeouts, 0);
  });
  expect_clean();
}

TEST_P(TimerStress, SleepersOfAllLengthsWhileTheWorldChanges) {  // [33]
  const vole_test::time_limit limit;
  vole::run([&] {
    vole::wait_group sleepers;
    for (std::uint64_t i = 0; i < 50; ++i)
      sleepers.go([&, i] {
        for (dice d(40 + i); !limit.over();) {
          const vole::time_point due = vole::now() + vole::duration(d.below(3'000'000));
          vole::sleep_until(due);
          EXPECT_GE(vole::now(), due);
        }
      });
    for (dice d(99); !limit.over(); vole::sleep_for(short_time(d)))
      vole::set_max_procs(1 + static_cast<int>(d.below(8)));
    sleepers.wait();
  });
  expect_clean();
}

// The runtime ends among sleepers and timed waits that are just due.
TEST_P(TimerStress, TheEndMeetsTheDeadline) {
  const vole_test::time_limit limit;
  dice d(50);
  const vole::chan<int> never, sometimes(1);
  while (!limit.over()) {
    vole::set_max_procs(procs());
    vole::run([&] {
      for (std::uint32_t i = d.below(20); i > 0; --i) {
        const vole::duration wait = short_time(d);
        switch (d.below(4)) {
          case 0: vole::go([wait] { vole::sleep_for(wait); }); break;
          case 1:
            vole::go([&never, wait] {
              for (;;) (void)never.recv_for(wait);
            });
            break;
          case 2:
            vole::go([&never, &sometimes, wait] {
              for (;;)
                vole::select(vole::on_recv(never), vole::on_recv(sometimes), vole::on_after(wait));
            });
            break;
          default:
            vole::go([&sometimes, wait] {
              for (;;) (void)sometimes.send_for(1, wait);
            });
        }
      }
      vole::sleep_for(short_time(d));
    });
    ASSERT_EQ(vole::num_goroutines(), 0u);
  }
  allow_zombies();
  expect_clean();
}

}  // namespace
