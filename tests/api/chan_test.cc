// Channels: what is sent arrives, once and in order; what close does; who is served first.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <compare>
#include <concepts>
#include <map>
#include <optional>
#include <thread>
#include <unordered_set>
#include <vector>

#include "fixture.h"
#include "parked.h"

namespace {

using vole::chan;
using vole::chan_status;
using vole_test::wait_until_parked;

class Chan : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Chan);

TEST_P(Chan, UnbufferedSendMeetsReceive) {
  run([] {
    const chan<int> c;
    EXPECT_EQ(c.capacity(), 0u);
    vole::wait_group done;
    done.go([c] {
      for (int i = 0; i < 1000; ++i) c.send(i);
      c.close();
    });
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(c.recv(), i);
    EXPECT_EQ(c.recv(), std::nullopt);
    EXPECT_EQ(c.recv(), std::nullopt);
    EXPECT_EQ(c.size(), 0u);
    done.wait();
  });
}

TEST_P(Chan, UnbufferedSendReturnsOnlyWhenReceived) {
  run([] {
    const chan<int> c;
    std::atomic<bool> received{false};
    vole::wait_group done;
    done.go([&] {
      wait_until_parked(1, "chan send");
      received = true;
      EXPECT_EQ(c.recv(), 7);
    });
    c.send(7);
    EXPECT_TRUE(received);
    done.wait();
  });
}

TEST_P(Chan, BufferHoldsItsCapacityInOrder) {
  run([] {
    const chan<int> c(3);
    for (int round = 0; round < 5; ++round) {  // round the ring
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(c.size(), static_cast<std::size_t>(i));
        c.send(i + round);
      }
      EXPECT_EQ(c.try_send(9), chan_status::would_block);
      EXPECT_EQ(c.size(), 3u);
      EXPECT_EQ(c.capacity(), 3u);
      EXPECT_EQ(c.recv(), round);
      c.send(7);
      EXPECT_EQ(c.recv(), round + 1);
      EXPECT_EQ(c.recv(), round + 2);
      EXPECT_EQ(c.recv(), 7);
      EXPECT_EQ(c.try_recv().status, chan_status::would_block);
    }
  });
}

TEST_P(Chan, BlockedSendersRefillTheBufferInOrder) {
  run([] {
    const chan<int> c(2);
    c.send(0);
    c.send(1);
    vole::wait_group done;
    for (int g = 2; g < 8; ++g) {
      done.go([c, g] { c.send(g); });
      wait_until_parked(static_cast<std::size_t>(g - 1), "chan send");
    }
    EXPECT_EQ(c.size(), 2u);
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(c.recv(), i);
      EXPECT_EQ(c.size(), i < 6 ? 2u : static_cast<std::size_t>(7 - i)) << i;
    }
    done.wait();
  });
}

TEST_P(Chan, WaitingReceiversAreServedInOrder) {
  run([] {
    const chan<int> c;
    std::vector<int> got(10);
    vole::wait_group done;
    for (std::size_t g = 0; g < 10; ++g) {
      done.go([&, g] { got[g] = *c.recv(); });
      wait_until_parked(g + 1, "chan receive");
    }
    for (int i = 0; i < 10; ++i) c.send(i);
    done.wait();
    for (int i = 0; i < 10; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
  });
}

TEST_P(Chan, WaitingSendersAreServedInOrder) {
  run([] {
    const chan<int> c;
    vole::wait_group done;
    for (int g = 0; g < 10; ++g) {
      done.go([=] { c.send(g); });
      wait_until_parked(static_cast<std::size_t>(g) + 1, "chan send");
    }
    for (int i = 0; i < 10; ++i) EXPECT_EQ(c.recv(), i);
    done.wait();
  });
}

TEST_P(Chan, TryFormsMeetOnlyWaiters) {
  run([] {
    const chan<int> c;
    EXPECT_EQ(c.try_send(1), chan_status::would_block);
    EXPECT_EQ(c.try_recv().status, chan_status::would_block);
    EXPECT_FALSE(c.try_recv());
    vole::wait_group done;
    done.go([&] { EXPECT_EQ(c.recv(), 5); });
    wait_until_parked(1, "chan receive");
    EXPECT_EQ(c.try_send(5), chan_status::ok);
    EXPECT_EQ(c.try_send(6), chan_status::would_block);
    done.wait();
    done.go([&] { c.send(8); });
    wait_until_parked(1, "chan send");
    const auto r = c.try_recv();
    EXPECT_TRUE(r);
    EXPECT_EQ(*r, 8);
    done.wait();
  });
}

TEST_P(Chan, CloseDrainsTheBufferFirst) {
  run([] {
    const chan<int> c(4);
    for (int i = 0; i < 3; ++i) c.send(i);
    c.close();
    EXPECT_EQ(c.size(), 3u);
    EXPECT_THROW(c.send(9), vole::channel_closed);
    EXPECT_EQ(c.try_send(9), chan_status::closed);
    EXPECT_EQ(c.send_for(9, std::chrono::hours(1)), chan_status::closed);
    EXPECT_EQ(c.recv(), 0);
    EXPECT_EQ(*c.try_recv(), 1);
    EXPECT_EQ(*c.recv_for(std::chrono::hours(1)), 2);
    EXPECT_EQ(c.recv(), std::nullopt);
    EXPECT_EQ(c.try_recv().status, chan_status::closed);
    EXPECT_EQ(c.recv_for(std::chrono::hours(1)).status, chan_status::closed);
    EXPECT_THROW(c.close(), vole::channel_closed);
    EXPECT_THROW(c.close(), std::logic_error);
  });
}

TEST_P(Chan, CloseWakesEveryReceiver) {
  run([] {
    const chan<int> c;
    std::atomic<int> told{0};
    vole::wait_group done;
    for (int g = 0; g < 20; ++g)
      done.go([&] {
        if (!c.recv()) ++told;
      });
    std::thread plain([&] {
      if (!c.recv()) ++told;
    });
    wait_until_parked(20, "chan receive");
    c.close();
    done.wait();
    plain.join();
    EXPECT_EQ(told, 21);
  });
}

// So many that queues overflow; with and without some whom others might have served.
TEST_P(Chan, CloseWakesVeryMany) {
  static constexpr int kMany = vole_test::kSanitized ? 2'000 : 70'000;  // it keeps records of each
  for (const bool contested : {false, true}) {
    run([contested] {
      const chan<int> c;
      std::atomic<int> told{0};
      vole::wait_group waiting, done;
      waiting.add(kMany);
      for (int i = 0; i < kMany; ++i)
        done.go([&, patient = !contested || i % 7 != 0] {
          waiting.done();
          const bool closed =
              patient ? !c.recv() : c.recv_for(std::chrono::hours(1)).status == chan_status::closed;
          if (closed) ++told;
        });
      waiting.wait();
      c.close();
      done.wait();
      EXPECT_EQ(told, kMany);
    });
  }
}

// A goroutine without a P closes: its waiters go to the global queue, many at once.
TEST_P(Chan, CloseByAPlainThreadWakesMany) {
  static constexpr int kMany = 1000;
  run([] {
    const chan<int> c;
    std::atomic<int> told{0};
    vole::wait_group done;
    for (int i = 0; i < kMany; ++i)
      done.go([&] {
        if (!c.recv()) ++told;
      });
    std::thread plain([&] {
      if (!c.recv()) ++told;
    });
    wait_until_parked(kMany, "chan receive");
    std::thread([&] { c.close(); }).join();
    done.wait();
    plain.join();
    EXPECT_EQ(told, kMany + 1);
  });
}

TEST_P(Chan, CloseThrowsInEverySender) {
  run([] {
    const chan<int> c(1);
    c.send(0);
    std::atomic<int> told{0};
    const auto send = [&] {
      try {
        c.send(1);
      } catch (const vole::channel_closed&) {
        ++told;
      }
    };
    vole::wait_group done;
    for (int g = 0; g < 20; ++g) done.go(send);
    wait_until_parked(20, "chan send");
    std::thread plain(send);
    c.close();
    done.wait();
    plain.join();
    EXPECT_EQ(told, 21);
    EXPECT_EQ(c.recv(), 0);
    EXPECT_EQ(c.recv(), std::nullopt);
  });
}

TEST_P(Chan, NilNeverMoves) {
  run([] {
    const chan<int> nil = nullptr;
    EXPECT_TRUE(nil == nullptr);
    EXPECT_EQ(nil.size(), 0u);
    EXPECT_EQ(nil.capacity(), 0u);
    EXPECT_EQ(nil.try_send(1), chan_status::would_block);
    EXPECT_EQ(nil.try_recv().status, chan_status::would_block);
    EXPECT_EQ(nil.send_for(1, std::chrono::microseconds(50)), chan_status::timeout);
    EXPECT_EQ(nil.recv_for(std::chrono::microseconds(50)).status, chan_status::timeout);
    EXPECT_THROW(nil.close(), std::logic_error);
    try {
      nil.close();
    } catch (const vole::channel_closed&) {
      ADD_FAILURE() << "nil is not closed";
    } catch (const std::logic_error&) {
    }
  });
}

TEST_P(Chan, NilBlocksForEver) {
  run([] {
    vole::go([] { chan<int>(nullptr).send(1); });
    vole::go([] { chan<int>(nullptr).recv(); });
    vole::go([] { vole::recv_chan<int>(nullptr).recv(); });
    wait_until_parked(1, "chan send (nil channel)");
    wait_until_parked(2, "chan receive (nil channel)");
  });
}

TEST_P(Chan, CopiesAreOneChannel) {
  const chan<int> a(2), b(2);
  chan<int> c = a;
  EXPECT_TRUE(a == c);
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(a == nullptr);
  const vole::send_chan<int> in = a;
  const vole::recv_chan<int> out = c;
  EXPECT_TRUE(in == a && out == a && in == vole::send_chan<int>(c));
  in.send(4);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(in.capacity(), 2u);
  EXPECT_EQ(*out.try_recv(), 4);
  in.close();
  EXPECT_EQ(out.recv(), std::nullopt);
  std::unordered_set<chan<int>> set{a, b, c};
  EXPECT_EQ(set.size(), 2u);
  EXPECT_TRUE(set.contains(a));
  EXPECT_EQ(std::hash<vole::send_chan<int>>{}(in), std::hash<vole::recv_chan<int>>{}(out));
  const chan<int> moved = std::move(c);
  EXPECT_TRUE(c == nullptr) << "moved-from is nil";
  EXPECT_TRUE(moved == a);
  c = moved;
  chan<int>& self = c;
  c = self;
  c = std::move(self);
  EXPECT_TRUE(chan<int>(0) != nullptr) << "0 is a capacity";
}

// By identity, whatever the kind of handle: as keys of a std::map.
TEST_P(Chan, HaveAnOrder) {
  static_assert(std::totally_ordered<chan<int>> && std::totally_ordered<vole::send_chan<int>>);
  static_assert(std::totally_ordered_with<chan<int>, vole::recv_chan<int>>);
  const chan<int> a, b;
  const chan<int> nil = nullptr;
  EXPECT_EQ(a <=> chan<int>(a), std::strong_ordering::equal);
  EXPECT_EQ(vole::send_chan<int>(a) <=> vole::recv_chan<int>(a), std::strong_ordering::equal);
  EXPECT_NE(a <=> b, std::strong_ordering::equal);
  EXPECT_EQ(a < b, b > a);
  EXPECT_EQ(vole::send_chan<int>(a) < vole::recv_chan<int>(b), a < b);
  EXPECT_TRUE(nil < a && nil < b && nil <= chan<int>(nullptr));
  std::map<chan<int>, int> numbers{{a, 1}, {b, 2}};
  EXPECT_EQ(numbers[a] + 10 * numbers[b], 21);
}

TEST_P(Chan, PlainThreadsAmongThemselves) {
  const chan<int> c, buffered(2);  // no runtime needed
  std::thread sender([=] {
    for (int i = 0; i < 500; ++i) c.send(i);
    for (int i = 0; i < 500; ++i) buffered.send(i);
    buffered.close();
  });
  for (int i = 0; i < 500; ++i) ASSERT_EQ(c.recv(), i);
  int next = 0;
  for (const int v : buffered) ASSERT_EQ(v, next++);
  EXPECT_EQ(next, 500);
  sender.join();
}

TEST_P(Chan, PlainThreadsAndGoroutines) {
  run([] {
    const chan<int> there, back(1);
    std::thread plain([=] {
      for (const int v : there) back.send(v + 1);
      back.close();
    });
    for (int i = 0; i < 300; ++i) {
      there.send(i);
      ASSERT_EQ(back.recv(), i + 1);
    }
    there.close();
    EXPECT_EQ(back.recv(), std::nullopt);
    plain.join();
  });
}

}  // namespace
