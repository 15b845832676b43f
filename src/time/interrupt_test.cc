// Waits that a context ends, on a small object that hands out tickets in turn: a waiter gets one ticket
// or is told that its context was cancelled, never both, never neither.

#include "sched/wait/interrupt.h"

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "../../tests/stress/stress.h"
#include "base/lock.h"
#include "os/os.h"
#include "sched/park.h"

namespace {

using vole::context;
using vole_test::dice;
using namespace vole::rt;

// A counter with a queue, as simple as an object can be that is waited for.
class tickets {
 public:
  // False: ctx was cancelled first.
  bool take(const context& ctx) {
    interruptible_wait wait(vole::detail::interrupter_of(vole::detail::access::node(ctx)), this, &unlink);
    M* const m = enter_either();
    lock_.acquire();
    const bool taken = take_locked();
    if (taken || !wait.arm(m)) {
      lock_.release();
      leave_either(m);
      return taken;
    }
    wait_queue::push_back(queue_, &wait.self);
    const commit_fn unlock = [](G*, void* mine) noexcept {
      static_cast<tickets*>(mine)->lock_.release();
      return true;
    };
    return wait.end(wait.sleep(m, by_commit{unlock, this}, wait_reason::semaphore));
  }

  void give(int n) {
    for (; n > 0; --n) {
      waiter* w = nullptr;
      const auto pop = [&](M*) {
        w = wait_queue::pop_claimed(queue_);
        free_ += w == nullptr ? 1 : 0;
      };
      undisturbed(pop, [&](M* m) {
        if (w != nullptr) wake(m, w, 0);
      });
    }
  }

  int left() const { return free_; }
  bool nobody_waits() { return waiting() == 0; }
  int waiting() {
    int n = 0;
    undisturbed([&n, this](M*) {
      for (const waiter* w = queue_.first; w != nullptr; w = w->next) ++n;
    });
    return n;
  }

 private:
  bool take_locked() {
    if (free_ == 0) return false;
    --free_;
    return true;
  }
  // Inside the runtime: first(m) under the lock, then second(m) without.
  template <class First, class Second = void (*)(M*)>
  void undisturbed(
      First first, Second second = [](M*) {}) {
    M* const m = enter_either();
    lock_.acquire();
    first(m);
    lock_.release();
    second(m);
    leave_either(m);
  }
  static void unlink(void* object, waiter* w) noexcept {
    auto& mine = *static_cast<tickets*>(object);
    mine.lock_.acquire();
    if (w->object != nullptr) wait_queue::remove(mine.queue_, w);
    mine.lock_.release();
  }

  vole::base::lock<vole::base::lock_rank::object> lock_;
  vole::detail::wait_list queue_;
  int free_ = 0;
};

VOLE_STRESS(Interrupt);

TEST_P(Interrupt, AContextThatIsCancelledAlreadyEndsTheWaitAtOnce) {
  auto [ctx, cancel] = vole::with_cancel(context::background());
  cancel();
  tickets t;
  EXPECT_FALSE(t.take(ctx));  // a plain thread
  vole::run([&t, ctx = ctx] { EXPECT_FALSE(t.take(ctx)); });
  t.give(1);
  EXPECT_TRUE(t.take(ctx));  // nothing to wait for
}

TEST_P(Interrupt, ADeadlineEndsTheWaitOfAGoroutineAndOfAThread) {
  vole::run([] {
    tickets t;
    auto [ctx, cancel] = vole::with_timeout(context::background(), std::chrono::milliseconds(1));
    auto [below, cancel_below] = vole::with_cancel(ctx);
    std::thread plain([&t, ctx = ctx] {
      EXPECT_FALSE(t.take(ctx));
      EXPECT_EQ(ctx.err(), vole::errc::deadline_exceeded);
    });
    EXPECT_FALSE(t.take(below));
    EXPECT_EQ(below.err(), vole::errc::deadline_exceeded);
    plain.join();
    EXPECT_TRUE(t.nobody_waits());
  });
  expect_clean();
}

// Tickets are given while contexts are cancelled, from goroutines and plain threads; everybody
// leaves its frame at once. At the end, every ticket is with somebody or still there.
TEST_P(Interrupt, TicketsRaceCancellations) {
  const vole_test::time_limit limit(std::chrono::milliseconds(200));
  vole::run([&] {
    for (dice d(1); !limit.over();) {
      auto t = std::make_unique<tickets>();
      constexpr int kWaiters = 8;
      std::vector<vole::cancelable> made;
      for (int i = 0; i < 3; ++i) {
        const context above = i == 0 ? context::background() : made.front().ctx;
        made.push_back(d.below(4) != 0
                           ? vole::with_cancel(above)
                           : vole::with_timeout(above, std::chrono::microseconds(d.below(100))));
      }
      std::atomic<int> served{0}, canceled{0};
      const int given = static_cast<int>(d.below(kWaiters + 1));
      const auto wait = [&](const context& ctx) { ++(t->take(ctx) ? served : canceled); };
      vole::wait_group all;
      std::vector<std::thread> plain;
      for (int i = 0; i < kWaiters; ++i) {
        const context ctx = made[d.below(3)].ctx;
        if (d.below(16) == 0) {
          plain.emplace_back([&wait, ctx] { wait(ctx); });
        } else {
          all.go([&wait, ctx] { wait(ctx); });
        }
      }
      for (std::uint32_t k = d.below(4); k > 0; --k) vole::yield();
      all.go([&, k = d.below(3)]() mutable {
        for (; k > 0; --k) vole::yield();
        t->give(given);
      });
      for (std::uint32_t k = d.below(3); k > 0; --k) vole::yield();
      made[d.below(3)].cancel();
      if (d.below(2) == 0) std::thread([&] { made.front().cancel(); }).join();
      made.front().cancel();
      all.wait();
      for (std::thread& p : plain) p.join();
      EXPECT_EQ(served + canceled, kWaiters);
      EXPECT_EQ(served + t->left(), given);
      EXPECT_TRUE(t->nobody_waits());
    }
  });
  expect_clean();
}

// A runtime ends while goroutines wait, or have just been served and have not run since. Their
// frames are gone; the contexts live on and are cancelled afterwards, the object is used again.
TEST_P(Interrupt, AbandonedGoroutinesLeaveNothingInTheContext) {
  const vole_test::time_limit limit(std::chrono::milliseconds(200));
  for (dice d(2); !limit.over();) {
    tickets t;
    auto [ctx, cancel] = vole::with_cancel(context::background());
    const context& outer = ctx;  // not a copy: nobody would let go of an abandoned goroutine's
    vole::run([&t, &d, &outer] {
      for (int i = 0; i < 10; ++i)
        vole::go([&t, &outer] {
          if (t.take(outer)) vole::sleep_for(std::chrono::hours(1));
        });
      for (std::uint32_t k = d.below(20); k > 0; --k) vole::yield();
      t.give(static_cast<int>(d.below(8)));
      for (std::uint32_t k = d.below(3); k > 0; --k) vole::yield();
    });
    EXPECT_TRUE(t.nobody_waits());
    std::thread plain([&t, &outer] { t.take(outer); });
    if (d.below(2) == 0) t.give(1);
    cancel();
    plain.join();
  }
  allow_zombies();
}

// The context goes while goroutines that it has woken have not run: the end of the runtime must not
// touch it.
TEST_P(Interrupt, TheContextGoesBeforeTheAbandonedGoroutine) {
  const vole_test::time_limit limit(std::chrono::milliseconds(200));
  for (dice d(3); !limit.over();) {
    tickets t;
    vole::run([&] {
      auto made = std::make_unique<vole::cancelable>(vole::with_cancel(context::background()));
      for (int i = 0; i < 10; ++i) vole::go([&t, &ctx = made->ctx] { t.take(ctx); });
      while (t.waiting() < 10) vole::yield();
      if (d.below(2) == 0) made->cancel();
    });
    EXPECT_TRUE(t.nobody_waits());
  }
  allow_zombies();
}

}  // namespace
