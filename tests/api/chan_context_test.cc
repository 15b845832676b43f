// Send and receive with a context: what they return, and what becomes of the value.

#include <vole/vole.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "fixture.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::chan;
using vole::chan_status;
using vole::context;
using vole_test::wait_until_parked;

class ChanContext : public vole_test::Runtime {
 protected:
  // On a goroutine, and on a plain thread.
  template <class F>
  void on_both(F body) {
    run([&] {
      body();
      std::thread(body).join();
    });
  }
};
VOLE_AT_1_2_4_PROCS(ChanContext);

TEST_P(ChanContext, WhatIsReadyProceeds) {
  on_both([] {
    auto made = vole::with_cancel(context::background());
    const context cancelable = made.ctx;
    for (const context& ctx : {cancelable, context::background()}) {
      const chan<std::string> c(1);
      EXPECT_EQ(c.send("one", ctx), chan_status::ok);
      const auto r = vole::recv_chan<std::string>(c).recv(ctx);
      EXPECT_TRUE(r);
      EXPECT_EQ(*r, "one");
      const std::string kept = "two";
      EXPECT_EQ(vole::send_chan<std::string>(c).send(kept, ctx), chan_status::ok);
      EXPECT_EQ(kept, "two");
      c.close();
      EXPECT_EQ(c.send(kept, ctx), chan_status::closed);
      EXPECT_EQ(c.recv(ctx).status, chan_status::ok);
      EXPECT_EQ(c.recv(ctx).status, chan_status::closed);
    }
    const chan<> signal(1);
    EXPECT_EQ(signal.send(made.ctx), chan_status::ok);
    EXPECT_EQ(signal.recv(made.ctx).status, chan_status::ok);
  });
}

TEST_P(ChanContext, ACancelledOneWins) {
  on_both([] {
    auto made = vole::with_cancel(context::background());
    made.cancel();
    const chan<std::unique_ptr<int>> c(2);
    c.send(std::make_unique<int>(1));
    for (int i = 0; i < 100; ++i) {
      auto mine = std::make_unique<int>(5);
      EXPECT_EQ(c.send(std::move(mine), made.ctx), chan_status::canceled);
      ASSERT_TRUE(mine) << "moved from only if ok";
      EXPECT_EQ(c.recv(made.ctx).status, chan_status::canceled);
    }
    EXPECT_EQ(c.size(), 1u);
  });
}

TEST_P(ChanContext, CancelledWhileItWaits) {
  run([] {
    auto made = vole::with_cancel(context::background());
    const chan<std::unique_ptr<int>> c;
    const chan<int> other, nil = nullptr;
    vole::wait_group done;
    done.go([&] {
      auto mine = std::make_unique<int>(5);
      EXPECT_EQ(c.send(std::move(mine), made.ctx), chan_status::canceled);
      EXPECT_TRUE(mine);
    });
    done.go([&] {
      const auto r = other.recv(made.ctx);
      EXPECT_EQ(r.status, chan_status::canceled);
      EXPECT_FALSE(r.value.has_value());
    });
    done.go([&] { EXPECT_EQ(nil.recv(made.ctx).status, chan_status::canceled); });
    wait_until_parked(3, "select");
    std::thread plain([&] { EXPECT_EQ(other.recv(made.ctx).status, chan_status::canceled); });
    made.cancel();
    done.wait();
    plain.join();
    EXPECT_EQ(c.try_recv().status, chan_status::would_block) << "nobody is left in the queue";
  });
}

TEST_P(ChanContext, DeadlineWhileItWaits) {
  on_both([] {
    auto made = vole::with_timeout(context::background(), 5ms);
    const chan<int> c;
    EXPECT_EQ(c.recv(made.ctx).status, chan_status::canceled);
    EXPECT_EQ(made.ctx.err(), vole::errc::deadline_exceeded);
  });
}

TEST_P(ChanContext, ServedOrClosedWhileItWaits) {
  run([] {
    auto made = vole::with_cancel(context::background());
    const chan<int> c;
    vole::wait_group done;
    for (int i = 0; i < 2; ++i)
      done.go([&] {
        int sum = 0;
        for (;;) {
          const auto r = c.recv(made.ctx);
          if (r.status == chan_status::closed) break;
          ASSERT_TRUE(r);
          sum += *r;
        }
        EXPECT_GE(sum, 0);
      });
    for (int i = 0; i < 100; ++i) EXPECT_EQ(c.send(i, made.ctx), chan_status::ok);
    wait_until_parked(2, "select");
    c.close();
    done.wait();
    EXPECT_FALSE(made.ctx.err());
  });
}

// A move that may throw: the value travels in a box, and comes back if it is not sent.
TEST_P(ChanContext, AValueInABoxComesBack) {
  struct boxed {
    explicit boxed(std::string t) : text(std::move(t)) {}
    boxed(boxed&& other) noexcept(false) : text(std::move(other.text)) {}
    std::string text;
  };
  run([] {
    auto made = vole::with_timeout(context::background(), 2ms);
    const chan<boxed> c;
    boxed mine("mine");
    EXPECT_EQ(c.send(std::move(mine), made.ctx), chan_status::canceled);
    EXPECT_EQ(mine.text, "mine");
  });
}

}  // namespace
