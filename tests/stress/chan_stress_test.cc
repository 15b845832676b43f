// Channels under load: every value exactly once, whatever races with whatever.
//
// Note   values are numbers from 1 up, each sent once; a bitmap says who came.

#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

using namespace std::chrono_literals;
using vole::chan;
using vole::chan_status;
using vole_test::dice;

VOLE_STRESS(ChanStress);

// Which values have come. Twice is an error at once, never is one at the end.
class roll {
 public:
  explicit roll(std::size_t n) : seen_(n) {}
  void came(std::size_t v) {
    ASSERT_LT(v, seen_.size());
    ASSERT_EQ(seen_[v].fetch_add(1), 0) << v << " came twice";
  }
  std::size_t count() const {
    std::size_t n = 0;
    for (const auto& s : seen_) n += s.load() != 0 ? 1 : 0;
    return n;
  }
  bool has(std::size_t v) const { return seen_[v].load() != 0; }

 private:
  std::vector<std::atomic<int>> seen_;
};

constexpr std::size_t kEach = 300;

// Some of the parties are plain threads.
template <class F>
void start(std::size_t n, std::size_t plain, vole::wait_group& all,
           std::vector<std::thread>& threads, F body) {
  for (std::size_t i = 0; i < n; ++i) {
    if (i < plain) {
      threads.emplace_back([=] { body(i); });
    } else {
      all.go([=] { body(i); });
    }
  }
}

void join(std::vector<std::thread>& threads) {
  for (std::thread& t : threads) t.join();
  threads.clear();
}

// Any way of sending that ends with the value gone.
void send_somehow(const chan<std::size_t>& c, std::size_t v, dice& d) {
  switch (d.below(5)) {
    case 0:
      while (c.try_send(v) != chan_status::ok) vole::yield();
      return;
    case 1:
      while (c.send_for(v, std::chrono::microseconds(d.below(200))) != chan_status::ok) {
      }
      return;
    case 2:
      while (vole::select(vole::on_send(c, v),
                          vole::on_after(std::chrono::microseconds(d.below(100)))) != 0) {
      }
      return;
    default: c.send(v);
  }
}

// nullopt: closed and drained.
std::optional<std::size_t> recv_somehow(const chan<std::size_t>& c, dice& d) {
  for (;;) {
    vole::received<std::size_t> r;
    switch (d.below(5)) {
      case 0: r = c.try_recv(); break;
      case 1: r = c.recv_for(std::chrono::microseconds(d.below(200))); break;
      case 2: {
        std::optional<std::size_t> v;
        if (vole::select(vole::on_recv(c, v), vole::on_default()) == 0) return v;
        break;
      }
      default: return c.recv();
    }
    if (r) return *r;
    if (r.status == chan_status::closed) return std::nullopt;
    vole::yield();
  }
}

TEST_P(ChanStress, ManyProducersAndConsumersLoseNothing) {
  const vole_test::time_limit limit;
  dice d(1);
  do {
    const std::size_t producers = 1 + d.below(6), consumers = 1 + d.below(6);
    const std::size_t plain = d.below(3);
    const chan<std::size_t> c(d.below(2) == 0 ? 0 : d.below(5));
    roll values(producers * kEach);
    const std::uint64_t stream = d.fork();
    EXPECT_EQ(vole::run([&] {
                vole::wait_group senders, receivers;
                std::vector<std::thread> sending, receiving;
                start(producers, plain, senders, sending, [&, stream](std::size_t i) {
                  dice mine(stream + i);
                  for (std::size_t n = 0; n < kEach; ++n) send_somehow(c, i * kEach + n, mine);
                });
                start(consumers, plain, receivers, receiving, [&, stream](std::size_t i) {
                  dice mine(stream + 100 + i);
                  while (const auto v = recv_somehow(c, mine)) values.came(*v);
                });
                senders.wait();
                join(sending);
                c.close();
                receivers.wait();
                join(receiving);
              }),
              0);
    ASSERT_EQ(values.count(), producers * kEach);
  } while (!limit.over());
  expect_clean();
}

// One sender, one receiver: the order is kept through every kind of wait.
TEST_P(ChanStress, OnePairKeepsItsOrder) {
  const vole_test::time_limit limit(std::chrono::milliseconds(300));
  dice d(2);
  do {
    const chan<std::size_t> c(d.below(4));
    const std::uint64_t stream = d.fork();
    const bool plain_sender = d.below(3) == 0;
    vole::run([&] {
      vole::wait_group done;
      std::vector<std::thread> threads;
      start(1, plain_sender ? 1 : 0, done, threads, [&](std::size_t) {
        dice mine(stream);
        for (std::size_t n = 0; n < 2000; ++n) send_somehow(c, n, mine);
        c.close();
      });
      dice mine(stream + 1);
      std::size_t next = 0;
      while (const auto v = recv_somehow(c, mine)) ASSERT_EQ(*v, next++);
      EXPECT_EQ(next, 2000u);
      done.wait();
      join(threads);
    });
  } while (!limit.over());
  expect_clean();
}

// A send that was told ok arrives, one that was told closed does not.
TEST_P(ChanStress, CloseRacesWithSendersAndReceivers) {
  const vole_test::time_limit limit;
  dice d(3);
  do {
    constexpr std::size_t kParties = 6;
    const chan<std::size_t> c(d.below(3));
    roll sent(kParties * kEach), came(kParties * kEach);
    std::atomic<int> closers{0};
    const std::uint64_t stream = d.fork();
    const std::uint32_t spin = d.below(2000);
    vole::run([&] {
      vole::wait_group all;
      std::vector<std::thread> threads;
      start(kParties, 1, all, threads, [&](std::size_t i) {
        dice mine(stream + i);
        for (std::size_t n = 0; n < kEach; ++n) {
          const std::size_t v = i * kEach + n;
          chan_status s = chan_status::ok;
          try {
            switch (mine.below(3)) {
              case 0: s = c.send_for(v, std::chrono::microseconds(mine.below(300))); break;
              case 1: s = c.try_send(v); break;
              default: c.send(v);
            }
          } catch (const vole::channel_closed&) {
            s = chan_status::closed;
          }
          if (s == chan_status::ok) sent.came(v);
          if (s == chan_status::closed) return;
        }
      });
      start(kParties, 1, all, threads, [&](std::size_t i) {
        dice mine(stream + 50 + i);
        while (const auto v = recv_somehow(c, mine)) came.came(*v);
      });
      start(3, 1, all, threads, [&](std::size_t) {
        for (std::uint32_t i = 0; i < spin; ++i) vole::checkpoint();
        vole::sleep_for(std::chrono::microseconds(spin));
        try {
          c.close();
          ++closers;
        } catch (const vole::channel_closed&) {
        }
      });
      all.wait();
      join(threads);
      EXPECT_EQ(closers, 1);
    });
    for (std::size_t v = 0; v < kParties * kEach; ++v) ASSERT_EQ(sent.has(v), came.has(v)) << v;
  } while (!limit.over());
  expect_clean();
}

// Deadlines as long as a hand-over takes: each timed operation ends one way, on both sides.
TEST_P(ChanStress, DeadlinesRaceWithTheOtherSide) {
  const vole_test::time_limit limit;
  dice d(4);
  do {
    constexpr std::size_t kMany = 400;
    const chan<std::size_t> c(d.below(2));
    roll sent(4 * kMany), came(4 * kMany);
    std::atomic<int> sending{4};
    const std::uint64_t stream = d.fork();
    vole::run([&] {
      vole::wait_group all;
      std::vector<std::thread> threads;
      start(4, 1, all, threads, [&](std::size_t i) {
        dice mine(stream + i);
        for (std::size_t n = 0; n < kMany; ++n)
          if (c.send_for(i * kMany + n, std::chrono::nanoseconds(mine.below(60000))) ==
              chan_status::ok)
            sent.came(i * kMany + n);
        if (--sending == 0) c.close();
      });
      start(3, 1, all, threads, [&](std::size_t i) {
        dice mine(stream + 70 + i);
        for (;;) {
          const auto r = c.recv_for(std::chrono::nanoseconds(mine.below(60000)));
          if (r) came.came(*r);
          if (r.status == chan_status::closed) return;
        }
      });
      all.wait();
      join(threads);
    });
    for (std::size_t v = 0; v < 4 * kMany; ++v) ASSERT_EQ(sent.has(v), came.has(v)) << v;
  } while (!limit.over());
  expect_clean();
}

// The last reference is dropped by whoever comes last, anywhere.
TEST_P(ChanStress, ChannelsDieInTheirUsersHands) {
  const vole_test::time_limit limit(std::chrono::milliseconds(400));
  vole::run([&] {
    vole::wait_group all;
    for (std::uint64_t g = 0; g < 8; ++g)
      all.go([&limit, &all, g] {
        dice d(500 + g);
        while (!limit.over()) {
          chan<std::unique_ptr<std::uint64_t>> c(d.below(3));
          for (std::uint32_t i = d.below(3); i > 0; --i)
            all.go([c, g] {
              try {
                c.send(std::make_unique<std::uint64_t>(g));
              } catch (const vole::channel_closed&) {
              }
            });
          if (d.below(2) == 0) all.go([c] { (void)c.recv_for(10us); });
          if (const auto v = c.recv_for(std::chrono::microseconds(d.below(100))); v) {
            EXPECT_EQ(**v, g);
          }
          c.close();
          if (d.below(2) == 0) c = nullptr;
        }
      });
    all.wait();
  });
  expect_clean();
}

}  // namespace
