// A channel whose last handle goes while somebody waits on it: run() does not return, or the heap is
// corrupted.
//
//     goroutine                    main                          the end of the runtime
//     c.recv(): in c's queue,
//       parked
//                                  leaves the scope of c: the
//                                    core is freed
//                                                                takes the goroutine off the
//                                                                  queue: locks what was the core
//
// In Go a waiter keeps its channel alive. So it does here now: a core that is awaited when its last
// handle goes is an orphan, and ends with the last who leaves it (src/chan/core.h).

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "../api/parked.h"
#include "chan/core.h"
#include "regress.h"

namespace {

using namespace std::chrono_literals;
using vole::chan;
using vole::chan_status;
using vole::on_after;
using vole::on_recv;
using vole::on_send;
using vole_test::wait_until_parked;

// Its destructor runs in user context: it calls vole.
struct counted {
  static inline std::atomic<int> alive{0}, ended{0};
  static void reset() { alive = ended = 0; }

  counted() { ++alive; }
  counted(counted&& other) noexcept : moved_from(std::exchange(other.moved_from, true)) { ++alive; }
  ~counted() {
    --alive;
    if (moved_from) return;
    ++ended;
    if (vole::goroutine_id() != 0) vole::yield();
  }
  bool moved_from = false;
};

// Others of the same size, where a freed one may have been.
void use_memory() {
  for (int i = 0; i < 50; ++i) {
    const chan<int> c(1);
    c.send(i);
    EXPECT_EQ(c.recv(), i);
  }
}

// How many cases wait on it, of goroutines and plain threads.
template <class Channel>
std::size_t queued(const Channel& channel) {
  vole::detail::chan_core& c = *vole::detail::access::core(channel);
  std::size_t n = 0;
  vole::rt::guest_enter_anywhere();
  c.lock.acquire();
  for (const auto* q : {&c.receivers, &c.senders})
    for (const auto* w = q->first; w != nullptr; w = w->next) ++n;
  c.lock.release();
  vole::rt::guest_leave();
  return n;
}

// Until so many cases have begun to wait. On a slow machine some may be over already.
template <class Channel>
void wait_until_begun(std::size_t n, const Channel& channel, const std::atomic<std::size_t>& over) {
  ASSERT_TRUE(vole_test::eventually([&] {
    vole::yield();
    const std::size_t before = over;
    return before + queued(channel) >= n;
  }));
}

VOLE_AT_PROCS(ChannelDiesUnderAWaiter, 1, 2, 4);

// Waits until a goroutine is in wait(c), drops c, and goes on a little; twice, to the end of run().
template <class Wait>
auto abandoned(const char* why, Wait wait, std::size_t capacity = 0) {
  return [=] {
    auto c = std::make_unique<chan<int>>(capacity);
    vole::go([&c = *c, wait] {
      wait(c);
      ADD_FAILURE() << "nobody can have served it";
    });
    wait_until_parked(1, why);
    c.reset();
    use_memory();
  };
}

TEST_P(ChannelDiesUnderAWaiter, Receiving) {
  for (vole_test::rounds r(5); r.next();)
    vole::run(abandoned("chan receive", [](chan<int>& c) { c.recv(); }));
}
TEST_P(ChannelDiesUnderAWaiter, Sending) {
  for (vole_test::rounds r(5); r.next();)
    vole::run(abandoned("chan send", [](chan<int>& c) { c.send(1); }));
}
TEST_P(ChannelDiesUnderAWaiter, ReceivingUntil) {
  for (vole_test::rounds r(5); r.next();)
    vole::run(abandoned("chan receive", [](chan<int>& c) { (void)c.recv_for(1h); }));
}
TEST_P(ChannelDiesUnderAWaiter, SendingUntil) {
  for (vole_test::rounds r(5); r.next();) {
    const auto fill_and_wait = [](chan<int>& c) {
      c.send(1);
      c.send_for(2, 1h);
    };
    vole::run(abandoned("chan send", fill_and_wait, 1));
  }
}
TEST_P(ChannelDiesUnderAWaiter, RangeFor) {
  for (vole_test::rounds r(5); r.next();)
    vole::run(abandoned("chan receive", [](chan<int>& c) {
      for ([[maybe_unused]] const int v : c) ADD_FAILURE();
    }));
}
TEST_P(ChannelDiesUnderAWaiter, Selecting) {
  const chan<int> other;  // the abandoned goroutine has no handle of its own: it would be lost
  for (vole_test::rounds r(5); r.next();)
    vole::run(abandoned("select", [&other](chan<int>& c) {
      vole::select(on_recv(c), on_send(c, 1), on_recv(other), on_recv(c), on_after(1h));
    }));
}

TEST_P(ChannelDiesUnderAWaiter, AMember) {
  struct worker {
    worker() {
      vole::go([this] {
        for (const int job : jobs) sum += job;
      });
    }
    chan<int> jobs;
    std::atomic<int> sum{0};
  };
  run([] {
    {
      worker w;
      w.jobs.send(1);
      w.jobs.send(2);
      wait_until_parked(1, "chan receive");
      EXPECT_EQ(w.sum, 3);
    }
    use_memory();
  });
}

// The runtime goes on, and the wait is over some time later.
TEST_P(ChannelDiesUnderAWaiter, UntilItsTimeIsOver) {
  run([] {
    counted::reset();
    vole::wait_group done;
    std::atomic<std::size_t> in_over{0}, out_over{0};
    auto in = std::make_unique<chan<int>>();
    auto out = std::make_unique<chan<counted>>(2);
    out->send({});
    out->send({});
    for (int i = 0; i < 3; ++i) {
      done.go([&c = *in, i, &in_over] {
        EXPECT_EQ(c.recv_for(30ms + i * 1ms).status, chan_status::timeout);
        ++in_over;
      });
      done.go([&c = *out, &out_over] {
        EXPECT_EQ(c.send_for(counted(), 30ms), chan_status::timeout);
        ++out_over;
      });
    }
    wait_until_begun(3, *in, in_over);
    wait_until_begun(3, *out, out_over);
    in.reset();
    out.reset();
    use_memory();
    done.wait();
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(counted::ended, 5);
  });
}

TEST_P(ChannelDiesUnderAWaiter, UntilASelectIsOver) {
  run([] {
    counted::reset();
    vole::wait_group done;
    std::atomic<std::size_t> in_over{0}, full_over{0};
    auto in = std::make_unique<chan<int>>();
    auto full = std::make_unique<chan<counted>>(1);
    full->send({});
    for (int i = 0; i < 2; ++i)
      done.go([&, &in = *in, &full = *full] {
        EXPECT_EQ(vole::select(on_recv(in), on_recv(in), on_send(full, counted()), on_after(30ms)),
                  3u);
        in_over += 2;
        ++full_over;
      });
    wait_until_begun(4, *in, in_over);
    wait_until_begun(2, *full, full_over);
    in.reset();
    full.reset();
    use_memory();
    done.wait();
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(counted::ended, 3);
  });
}

TEST_P(ChannelDiesUnderAWaiter, OnPlainThreads) {
  run([] {
    counted::reset();
    std::atomic<std::size_t> in_over{0}, full_over{0};
    auto in = std::make_unique<chan<int>>();
    auto full = std::make_unique<chan<counted>>(1);
    full->send({});
    std::thread receives([&in_over, &c = *in] {
      EXPECT_EQ(c.recv_for(30ms).status, chan_status::timeout);
      ++in_over;
    });
    std::thread sends([&full_over, &c = *full] {
      EXPECT_EQ(c.send_for(counted(), 30ms), chan_status::timeout);
      ++full_over;
    });
    std::thread selects([&, &in = *in, &full = *full] {
      EXPECT_EQ(vole::select(on_recv(in), on_send(full, counted()), on_after(30ms)), 2u);
      ++in_over;
      ++full_over;
    });
    wait_until_begun(2, *in, in_over);
    wait_until_begun(2, *full, full_over);
    in.reset();
    full.reset();
    use_memory();
    receives.join();
    sends.join();
    selects.join();
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(counted::ended, 3);
  });
}

// A select that another case has woken comes back to the channels where it lost, also where its
// waiter was thrown out of the queue meanwhile.
TEST_P(ChannelDiesUnderAWaiter, WhereASelectLost) {
  run([] {
    for (int round = 0; round < 20; ++round) {
      const chan<int> a;
      auto b = std::make_unique<chan<int>>();
      vole::wait_group done;
      done.go([&a, &b = *b] {
        EXPECT_EQ(vole::select(on_recv(a), on_recv(b), on_recv(b)), 0u);
      });
      wait_until_parked(1, "select");
      ASSERT_EQ(a.try_send(1), chan_status::ok);
      if (round % 2 == 0) {
        EXPECT_EQ(b->try_send(1), chan_status::would_block);
      }
      b.reset();
      use_memory();
      done.wait();
    }
  });
}

// And where it has won, it does not, though the runtime ends before it runs.
TEST_P(ChannelDiesUnderAWaiter, WhereASelectWon) {
  for (int round = 0; round < 5; ++round) {
    vole::run([] {
      const chan<int> b;
      auto a = std::make_unique<chan<int>>();
      vole::go([&a = *a, &b] { vole::select(on_recv(a), on_recv(b)); });
      wait_until_parked(1, "select");
      ASSERT_EQ(a->try_send(1), chan_status::ok);
      a.reset();
      for (int i = 0; i < 50; ++i) delete new chan<int>;
    });
  }
}

TEST_P(ChannelDiesUnderAWaiter, ATimersTickStillComes) {
  run([] {
    using clock_chan = vole::recv_chan<vole::time_point>;
    auto soon = std::make_unique<clock_chan>(vole::after(30ms));
    auto later = std::make_unique<clock_chan>(vole::after(1h));
    auto ticker = std::make_unique<vole::ticker>(1h);
    vole::wait_group done;
    std::atomic<std::size_t> soon_over{0}, later_over{0}, none{0};
    done.go([&soon_over, &c = *soon] {
      EXPECT_TRUE(c.recv());
      ++soon_over;
    });
    done.go([&later_over, &c = *later] {
      EXPECT_FALSE(c.recv_for(30ms));
      ++later_over;
    });
    vole::go([&c = *later] { c.recv(); });
    auto ticks = std::make_unique<clock_chan>(ticker->channel());
    vole::go([&c = *ticks] { c.recv(); });
    vole::go([&c = *ticks] { vole::select(on_recv(c), on_after(1h)); });
    wait_until_begun(1, *soon, soon_over);
    wait_until_begun(2, *later, later_over);
    wait_until_begun(2, *ticks, none);
    soon.reset();
    later.reset();
    ticks.reset();
    ticker.reset();
    use_memory();
    done.wait();
  });
  use_memory();  // ends what is left of `later`
}

// The time is over, but the goroutine has not run since when the runtime ends.
TEST_P(ChannelDiesUnderAWaiter, BetweenTheClockAndTheGoroutine) {
  for (int round = 0; round < 10; ++round) {
    std::atomic<std::size_t> over{0};
    vole::run([round, &over] {
      auto c = std::make_unique<chan<int>>(1);
      for (int i = 0; i < 4; ++i)
        vole::go([&over, &c = *c] {
          (void)c.recv_for(20ms);
          ++over;
        });
      vole::go([&over, &c = *c] {
        vole::select(on_recv(c), on_after(20ms));
        ++over;
      });
      wait_until_begun(5, *c, over);
      c.reset();
      for (int i = 0; i < 4; ++i) vole::go([] { vole_test::compute_for(2ms); });
      vole::sleep_for(18ms + round * 400us);
    });
  }
  allow_zombies();
}

// What it held when the runtime ended is not destroyed, as nothing is that was abandoned.
TEST_P(ChannelDiesUnderAWaiter, ValuesAtTheEndOfTheRuntime) {
  counted::reset();
  vole::run([] {
    auto c = std::make_unique<chan<counted>>(1);
    c->send({});
    vole::go([&c = *c] { c.send({}); });
    wait_until_parked(1, "chan send");
    c.reset();
  });
  EXPECT_EQ(counted::ended, 0);
}

// A handle that is dropped where nothing may be freed: inside, by a value's move.
TEST_P(ChannelDiesUnderAWaiter, DroppedByAMove) {
  struct drops {
    drops() = default;
    drops(drops&& other) noexcept { other.carried = nullptr; }
    chan<counted> carried = nullptr;
  };
  run([] {
    counted::reset();
    const chan<drops> c(1);
    drops d;
    d.carried = chan<counted>(1);
    d.carried.send({});
    EXPECT_EQ(c.try_send(std::move(d)), chan_status::ok);
    { const chan<int> next; }
    EXPECT_EQ(counted::alive, 0);
    EXPECT_EQ(counted::ended, 1);
  });
}

}  // namespace
