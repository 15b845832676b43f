// Channels with a deadline, without allocations, and destroyed at the first chance.
//
// Note   on a busy machine a wait may be long, never short: the tests wait hours for
//        what must come, and microseconds for what cannot.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <thread>

#include "fixture.h"
#include "parked.h"

namespace {

std::atomic<long> allocations{0};

}  // namespace

#if !defined(VOLE_SANITIZE_ADDRESS) && !defined(VOLE_SANITIZE_THREAD)  // they bring their own
[[gnu::noinline]] void* operator new(std::size_t n) {
  ++allocations;
  if (void* const p = std::malloc(n)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  ++allocations;
  const auto align = static_cast<std::size_t>(a);
  if (void* const p = std::aligned_alloc(align, (n + align - 1) / align * align)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
#endif

namespace {

using namespace std::chrono_literals;
using vole::chan;
using vole::chan_status;
using vole_test::wait_until_parked;

class ChanTimed : public vole_test::Runtime {
 protected:
  // On a goroutine and on a plain thread.
  template <class F>
  void on_both(F body) {
    run([&] {
      body();
      std::thread(body).join();
    });
    std::thread(body).join();  // no runtime at all
  }
};
VOLE_AT_1_2_4_PROCS(ChanTimed);

TEST_P(ChanTimed, TimesOutNotEarlier) {
  on_both([] {
    const chan<int> c;
    for (const auto d : {1us, 200us, 2000us}) {
      auto start = vole::now();
      EXPECT_EQ(c.recv_for(d).status, chan_status::timeout);
      EXPECT_GE(vole::now() - start, d);
      start = vole::now();
      EXPECT_EQ(c.send_for(1, d), chan_status::timeout);
      EXPECT_GE(vole::now() - start, d);
      EXPECT_EQ(c.recv_until(vole::now() + d).status, chan_status::timeout);
      EXPECT_EQ(c.send_until(1, vole::now() + d), chan_status::timeout);
    }
    EXPECT_EQ(c.try_send(1), chan_status::would_block) << "who gave up waits no more";
    EXPECT_EQ(c.try_recv().status, chan_status::would_block);
  });
}

TEST_P(ChanTimed, APastDeadlineOnlyTries) {
  on_both([] {
    const chan<int> c(1), nil = nullptr;
    for (const vole::time_point t :
         {vole::now() - 1h, vole::time_point::min(), vole::time_point()}) {
      EXPECT_EQ(c.recv_until(t).status, chan_status::timeout);
      EXPECT_EQ(c.send_until(1, t), chan_status::ok) << "there was room";
      EXPECT_EQ(c.send_until(2, t), chan_status::timeout);
      EXPECT_EQ(*c.recv_until(t), 1);
      EXPECT_EQ(nil.recv_until(t).status, chan_status::timeout);
      EXPECT_EQ(nil.send_until(1, t), chan_status::timeout);
    }
    EXPECT_EQ(c.send_for(1, -1h), chan_status::ok);
    EXPECT_EQ(c.send_for(1, vole::duration::min()), chan_status::timeout);
    EXPECT_EQ(*c.recv_for(0ns), 1);
    EXPECT_EQ(nil.recv_for(vole::duration::min()).status, chan_status::timeout);
  });
}

TEST_P(ChanTimed, AValueComesInTime) {
  run([] {
    const chan<int> c;
    for (const vole::duration d : {vole::duration(1h), vole::duration::max()}) {
      vole::wait_group done;
      done.go([=] { EXPECT_EQ(*c.recv_for(d), 3); });
      wait_until_parked(1, "chan receive");
      c.send(3);
      done.wait();
      done.go([=] { EXPECT_EQ(c.send_for(4, d), chan_status::ok); });
      wait_until_parked(1, "chan send");
      EXPECT_EQ(c.recv(), 4);
      done.wait();
      std::thread plain([=] {
        EXPECT_EQ(*c.recv_for(d), 5);
        EXPECT_EQ(c.send_for(6, d), chan_status::ok);
      });
      c.send(5);
      EXPECT_EQ(*c.recv_until(vole::time_point::max()), 6);
      plain.join();
    }
  });
}

TEST_P(ChanTimed, CloseEndsTheWait) {
  run([] {
    const chan<int> in, out;
    vole::wait_group done;
    done.go([=] { EXPECT_EQ(in.recv_for(1h).status, chan_status::closed); });
    done.go([=] { EXPECT_EQ(out.send_for(1, 1h), chan_status::closed); });
    std::thread plain([=] { EXPECT_EQ(in.recv_for(1h).status, chan_status::closed); });
    wait_until_parked(1, "chan receive");
    wait_until_parked(1, "chan send");
    in.close();
    out.close();
    done.wait();
    plain.join();
  });
}

TEST_P(ChanTimed, WhoGaveUpIsPassedOver) {
  run([] {
    for (int round = 0; round < 10; ++round) {
      const chan<int> c;
      vole::wait_group gives_up, gets_it;
      gives_up.go([=] { EXPECT_EQ(c.recv_for(500us).status, chan_status::timeout); });
      vole::yield();
      gets_it.go([=] { EXPECT_EQ(c.recv(), 1); });
      gives_up.go([=] { EXPECT_EQ(c.recv_for(500us).status, chan_status::timeout); });
      gives_up.wait();
      c.send(1);
      gets_it.wait();
    }
  });
}

// The library allocates nothing for a value that is copied as bytes; nor does select.
TEST_P(ChanTimed, SendAndReceiveAllocateNothing) {
  if (vole_test::kSanitized) GTEST_SKIP() << "nobody counts";
  run([] {
    const chan<long> c, back(4);
    vole::wait_group done;
    done.go([=] {
      for (const long v : c) back.send(v);
    });
    const auto round = [&](long i) {
      c.send(i);
      EXPECT_EQ(back.recv(), i);
      EXPECT_EQ(c.send_for(i, 1h), chan_status::ok);
      EXPECT_EQ(*back.recv_for(1h), i);
      (void)back.try_recv();
      vole::select(vole::on_send(c, i), vole::on_after(1h));
      std::optional<long> v;
      vole::select(vole::on_recv(back, v), vole::on_recv(chan<long>(nullptr)));
      EXPECT_EQ(v, i);
    };
    for (long i = 0; i < 50; ++i) round(i);  // whatever is made once has been made
    const long before = allocations;
    for (long i = 0; i < 500; ++i) round(i);
    EXPECT_EQ(allocations - before, 0);
    c.close();
    done.wait();
  });
}

// chan/core.h: once a call has released a waiter it no longer touches the object.
TEST_P(ChanTimed, TheWokenMayDropTheLastReference) {
  run([] {
    for (int round = 0; round < 300; ++round) {
      vole::wait_group done;
      // `shared` is the only handle: the sender uses it, the receiver destroys it.
      auto shared = std::make_unique<chan<std::unique_ptr<int>>>(round % 3 == 0 ? 1 : 0);
      const auto* const handle = shared.get();
      const auto receive = [&] {
        const auto v = round % 2 == 0 ? handle->recv() : std::move(handle->recv_for(1h).value);
        shared.reset();
        EXPECT_EQ(**v, round);
      };
      if (round % 5 == 0) {
        std::thread plain(receive);
        handle->send(std::make_unique<int>(round));
        plain.join();
        continue;
      }
      done.go(receive);
      if (round % 4 == 0) vole::yield();
      handle->send(std::make_unique<int>(round));
      done.wait();
    }
  });
}

TEST_P(ChanTimed, WhoIsToldOfTheCloseMayDropTheLastReference) {
  run([] {
    for (int round = 0; round < 300; ++round) {
      vole::wait_group done;
      auto shared = std::make_unique<chan<int>>();
      const auto* const handle = shared.get();
      done.go([&] {
        if (round % 3 == 0) {
          EXPECT_FALSE(handle->recv());
        } else if (round % 3 == 1) {
          EXPECT_EQ(vole::select(vole::on_recv(*handle), vole::on_after(1h)), 0u);
        } else {
          EXPECT_EQ(handle->send_for(1, 1h), chan_status::closed);
        }
        shared.reset();
      });
      if (round % 2 == 0) vole::yield();
      handle->close();
      done.wait();
    }
  });
}

TEST_P(ChanTimed, WaitersAreAbandonedWithTheRuntime) {
  const chan<int> c, full(1);
  full.send(1);
  vole::run([&] {
    for (int i = 0; i < 10; ++i) {
      vole::go([&c] { (void)c.recv(); });
      vole::go([&c] { (void)c.recv_for(1h); });
      vole::go([&full] { full.send(2); });
      vole::go([&c, &full] {
        vole::select(vole::on_recv(c), vole::on_send(full, 1), vole::on_after(1h));
      });
    }
    wait_until_parked(20, "chan receive");
    wait_until_parked(10, "chan send");
    wait_until_parked(10, "select");
  });
  EXPECT_EQ(c.try_send(1), chan_status::would_block) << "a dead goroutine still waits";
  EXPECT_EQ(full.recv(), 1);
  EXPECT_EQ(full.size(), 0u) << "a dead goroutine sent";
  c.close();
}

}  // namespace
