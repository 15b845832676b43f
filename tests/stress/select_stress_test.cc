// select under load: one winner, nothing lost by the losers, whatever closes or ends.

#include <vole/vole.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

using namespace std::chrono_literals;
using vole::chan;
using vole::on_after;
using vole::on_default;
using vole::on_recv;
using vole::on_send;
using vole_test::dice;

VOLE_STRESS(SelectStress);

using channels = std::array<chan<long>, 4>;

// A few channels; some may be the same, some nil.
channels some_channels(dice& d) {
  channels c;
  for (std::size_t i = 0; i < c.size(); ++i) {
    c[i] = chan<long>(d.below(2) == 0 ? 0 : d.below(3));
    if (i > 0 && d.below(6) == 0) c[i] = c[d.below(static_cast<std::uint32_t>(i))];
  }
  return c;
}

// Values go in through selects and come out through selects: the sum is conserved.
TEST_P(SelectStress, SumIsConserved) {
  const vole_test::time_limit limit;
  dice d(11);
  do {
    const channels c = some_channels(d);
    const std::uint64_t stream = d.fork();
    std::atomic<long> in{0}, out{0};
    const chan<> stop;
    const auto produce = [&](std::uint64_t who) {
      dice mine(stream + who);
      const chan<long> nil = nullptr;
      for (long n = 1; n <= 300; ++n) {
        const auto a = mine.below(4), b = mine.below(4);
        if (mine.below(3) == 0) {
          if (vole::select(on_send(c[a], n), on_after(std::chrono::microseconds(mine.below(50)))) ==
              0)
            in += n;
        } else {
          const auto k = vole::select(on_send(c[a], n), on_send(nil, 0), on_send(c[b], -n));
          in += k == 0 ? n : -n;
        }
      }
    };
    const auto consume = [&](std::uint64_t who) {
      dice mine(stream + 100 + who);
      for (bool more = true; more;) {
        const auto add = [&](std::optional<long> v) { out += *v; };
        switch (mine.below(3)) {
          case 0:
            more = vole::select(on_recv(c[0], add), on_recv(c[1], add), on_recv(c[2], add),
                                on_recv(c[3], add), on_recv(stop)) != 4;
            break;
          case 1:
            more = vole::select(on_recv(c[3], add), on_recv(stop), on_recv(c[mine.below(4)], add),
                                on_after(std::chrono::microseconds(mine.below(50)))) != 1;
            break;
          default: vole::select(on_recv(c[mine.below(4)], add), on_default([] { vole::yield(); }));
        }
      }
    };
    vole::run([&] {
      vole::wait_group producers, consumers;
      std::vector<std::thread> sending, receiving;
      for (std::uint64_t i = 0; i < 4; ++i) producers.go([&, i] { produce(i); });
      for (std::uint64_t i = 0; i < 4; ++i) consumers.go([&, i] { consume(i); });
      sending.emplace_back([&] { produce(8); });
      receiving.emplace_back([&] { consume(8); });
      producers.wait();
      for (std::thread& t : sending) t.join();
      stop.close();
      consumers.wait();
      for (std::thread& t : receiving) t.join();
      for (const chan<long>& left : c)
        while (const auto v = left.try_recv()) out += *v;
    });
    ASSERT_EQ(in, out);
  } while (!limit.over());
  expect_clean();
}

// Both ends of the same channels in every select: each meeting has two sides.
TEST_P(SelectStress, EverybodySendsAndReceives) {
  const vole_test::time_limit limit;
  dice d(12);
  do {
    const channels c = some_channels(d);
    std::atomic<long> balance{0}, moved{0};
    const std::uint64_t stream = d.fork();
    const chan<> stop;
    const auto live = [&](std::uint64_t who) {
      dice mine(stream + who);
      for (bool more = true; more;) {
        const auto a = mine.below(4), b = mine.below(4);
        const long v = mine.below(1000);
        const auto sent = [&] { balance += v, ++moved; };
        const auto got = [&](std::optional<long> w) { balance -= *w; };
        more = vole::select(on_send(c[a], v, sent), on_recv(c[b], got), on_recv(c[a], got),
                            on_send(c[b], v, sent), on_recv(stop)) != 4;
      }
    };
    vole::run([&] {
      vole::wait_group all;
      std::thread plain([&] { live(20); });
      for (std::uint64_t i = 0; i < 5; ++i) all.go([&, i] { live(i); });
      for (int i = 0; i < 2000 && moved < 3000; ++i) vole::sleep_for(50us);
      stop.close();
      all.wait();
      plain.join();
      for (const chan<long>& left : c)
        while (const auto v = left.try_recv()) balance -= *v;
    });
    ASSERT_EQ(balance, 0);
    ASSERT_GT(moved, 0);
  } while (!limit.over());
  expect_clean();
}

// A select against a close and a deadline: it ends one way, and its value with it.
TEST_P(SelectStress, CloseAndDeadlineRaceWithTheOtherSide) {
  const vole_test::time_limit limit;
  dice d(13);
  vole::run([&] {
    do {
      const chan<std::unique_ptr<int>> c(d.below(2));
      const chan<> quit;
      std::atomic<int> sent{0}, came{0};
      const std::uint64_t stream = d.fork();
      vole::wait_group all;
      const auto send = [&](std::uint64_t who) {
        dice mine(stream + who);
        auto value = std::make_unique<int>(5);
        try {
          const auto k = vole::select(on_send(c, std::move(value)), on_recv(quit),
                                      on_after(std::chrono::nanoseconds(mine.below(40000))));
          EXPECT_EQ(value == nullptr, k == 0);
          if (k == 0) ++sent;
        } catch (const vole::channel_closed&) {
          EXPECT_TRUE(value != nullptr);
        }
      };
      const auto receive = [&](std::uint64_t who) {
        dice mine(stream + 30 + who);
        const auto k = vole::select(
            on_recv(c,
                    [&](std::optional<std::unique_ptr<int>> v) { came += v && **v == 5 ? 1 : 0; }),
            on_recv(quit), on_after(std::chrono::nanoseconds(mine.below(40000))));
        EXPECT_LT(k, 3u);
      };
      std::thread plain;
      if (d.below(8) == 0) plain = std::thread([&] { send(9), receive(9); });
      for (std::uint64_t i = 0; i < 3; ++i) {
        all.go([&, i] { send(i); });
        all.go([&, i] { receive(i); });
      }
      all.go([&, n = d.below(3)] {
        if (n == 0) vole::sleep_for(5us);
        n == 1 ? c.close() : quit.close();
      });
      all.wait();
      if (plain.joinable()) plain.join();
      while (const auto left = c.try_recv()) ++came;
      ASSERT_EQ(sent, came);
    } while (!limit.over());
  });
  expect_clean();
}

// The frame of a select is on the sleeper's stack; here it is gone the moment select returns.
TEST_P(SelectStress, FramesVanishAtOnce) {
  const vole_test::time_limit limit;
  vole::run([&] {
    vole::wait_group all;
    for (std::uint64_t g = 0; g < 6; ++g)
      all.go([&limit, &all, g] {
        dice d(700 + g);
        while (!limit.over()) {
          const chan<int> a, b, c(1);
          all.go([a, b, k = d.below(3)] {
            if (k == 0) (void)a.send_for(1, 20us);
            if (k == 1) (void)b.recv_for(20us);
            if (k == 2) a.close();
          });
          all.go([b, c, k = d.below(2)] { k == 0 ? (void)b.try_recv() : c.send(1); });
          {
            std::optional<int> v;
            vole::select(on_recv(a, v), on_send(b, 2), on_recv(c, v),
                         on_after(std::chrono::nanoseconds(d.below(30000))));
          }
          volatile char other_use_of_the_stack[2000];
          for (volatile char& byte : other_use_of_the_stack) byte = 77;
          vole::yield();
        }
      });
    all.wait();
  });
  expect_clean();
}

TEST_P(SelectStress, WorkInFlightIsAbandoned) {
  const vole_test::time_limit limit;
  dice d(14);
  do {
    const channels c = some_channels(d);
    const std::uint64_t stream = d.fork();
    vole::run([&] {
      for (std::uint64_t i = 0; i < 20; ++i)
        vole::go([&c, stream, i] {
          dice mine(stream + i);
          for (;;) {
            const auto a = mine.below(4), b = mine.below(4);
            vole::select(on_send(c[a], 1), on_recv(c[b]),
                         on_after(std::chrono::microseconds(mine.below(200))));
          }
        });
      vole::sleep_for(std::chrono::microseconds(d.below(2000)));
    });
    for (const chan<long>& left : c) {  // no dead waiter is served
      while (left.try_recv()) {
      }
      ASSERT_EQ(left.size(), 0u);
    }
  } while (!limit.over());
  allow_zombies();
  expect_clean();
}

}  // namespace
