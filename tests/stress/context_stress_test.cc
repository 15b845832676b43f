// Contexts cancelled from everywhere: trees, deadlines, stop tokens, functions that wait for them.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

using vole::context;
using vole_test::dice;
using std::chrono::microseconds;

VOLE_STRESS(ContextStress);

bool closed(const context& c) { return c.done().try_recv().status == vole::chan_status::closed; }

// fn(i) on so many goroutines and plain threads at the same time; returns when all have.
template <class F>
void together(std::uint64_t goroutines, std::uint64_t threads, F fn) {
  vole::wait_group all;
  std::vector<std::thread> plain;
  for (std::uint64_t i = 0; i < goroutines; ++i) all.go([&fn, i] { fn(i); });
  for (std::uint64_t i = 0; i < threads; ++i)
    plain.emplace_back([&fn, i, goroutines] { fn(goroutines + i); });
  all.wait();
  for (std::thread& t : plain) t.join();
}

void linger(dice& d) {
  for (std::uint32_t k = d.below(4); k > 0; --k) vole::yield();
}

// A forest that everybody grows and fells. What is cancelled stays so, and all below it.
struct forest {
  using tree = std::shared_ptr<vole::cancelable>;

  tree pick(dice& d) {
    const std::lock_guard hold(lock);
    return trees[d.below(static_cast<std::uint32_t>(trees.size()))];
  }
  tree swap(dice& d, tree t) {  // the old one dies outside the lock
    const std::lock_guard hold(lock);
    trees[d.below(static_cast<std::uint32_t>(trees.size()))].swap(t);
    return t;
  }
  vole::mutex lock;
  std::vector<tree> trees = std::vector<tree>(16);
};

vole::cancelable grow(const context& parent, dice& d) {
  switch (d.below(4)) {
    case 0: return vole::with_timeout(parent, microseconds(d.below(300)));
    case 1: return vole::with_timeout(parent, std::chrono::hours(1));
    default: return vole::with_cancel(parent);
  }
}

void work_in(forest& f, dice d, const vole_test::time_limit& limit) {
  while (!limit.over()) {
    const forest::tree t = f.pick(d);
    const context parent = t != nullptr ? t->ctx : context::background();
    switch (d.below(6)) {
      case 0:
        if (t == nullptr) break;
        t->cancel();
        EXPECT_TRUE(closed(t->ctx) && t->ctx.err());
        break;
      case 1: f.swap(d, nullptr); break;
      case 2: {
        const bool before = static_cast<bool>(parent.err());
        auto [child, cancel] = grow(parent, d);
        if (before) {
          EXPECT_TRUE(child.err());
        }
        (void)child.stop_token();
        cancel();
        EXPECT_TRUE(child.stop_token().stop_requested());
        break;
      }
      case 3:
        if (closed(parent)) {
          EXPECT_TRUE(parent.err());
        } else if (parent.err()) {
          EXPECT_TRUE(closed(parent));
        }
        break;
      default: f.swap(d, std::make_shared<vole::cancelable>(grow(parent, d)));
    }
  }
}

TEST_P(ContextStress, AForestFelledFromEverywhere) {
  const vole_test::time_limit limit;
  vole::run([&] {
    forest f;
    together(6, 2, [&](std::uint64_t i) { work_in(f, dice(i), limit); });
  });
  expect_clean();
}

TEST_P(ContextStress, AFunctionRunsOrIsStopped) {
  const vole_test::time_limit limit;
  vole::run([&] {
    for (dice d(20); !limit.over();) {
      auto made = std::make_unique<vole::cancelable>(vole::with_cancel(context::background()));
      const context ctx = made->ctx;
      std::atomic<int> ran{0}, prevented{0};
      auto token = std::make_shared<int>(0);  // every function holds it
      std::vector<vole::func_watch> watches;
      for (int i = 0; i < 8; ++i) watches.push_back(vole::after_func(ctx, [&ran, token] { ++ran; }));
      std::atomic<std::size_t> next{0};
      const std::uint64_t seed = d.fork();
      together(3, d.below(8) == 0 ? 1 : 0, [&](std::uint64_t i) {
        dice mine(seed + i);
        linger(mine);
        if (i == 0) return made->cancel();
        for (std::size_t k; (k = next.fetch_add(1)) < watches.size();) {
          if (watches[k].stop()) ++prevented;
          if (watches[k].stop()) ++prevented;
        }
      });
      while (token.use_count() != 1) vole::yield();
      EXPECT_EQ(ran + prevented, 8);
    }
  });
  expect_clean();
}

TEST_P(ContextStress, WhoIsWokenMayDestroyTheCancelFunction) {
  const vole_test::time_limit limit;
  vole::run([&] {
    for (dice d(30); !limit.over();) {
      auto* const made = new vole::cancelable(vole::with_cancel(context::background()));
      together(2, d.below(8) == 0 ? 1 : 0, [&, ctx = made->ctx](std::uint64_t i) {
        if (i == 0) return made->cancel();
        ctx.done().recv();
        EXPECT_TRUE(ctx.err());
        if (i == 1) delete made;
      });
    }
  });
  expect_clean();
}

TEST_P(ContextStress, DeadlinesRaceCancels) {
  const vole_test::time_limit limit;
  std::atomic<long> timed_out{0}, cancelled{0};
  const auto live = [&](std::uint64_t i) {
    dice d(40 + i);
    do {
      auto [top, cancel_top] = vole::with_timeout(context::background(), microseconds(d.below(200)));
      auto [below, cancel] = vole::with_timeout(top, microseconds(d.below(200)));
      linger(d);
      if (d.below(4) != 0) cancel();
      below.done().recv();
      const std::error_code e = below.err();
      EXPECT_TRUE(e == vole::errc::canceled || e == vole::errc::deadline_exceeded);
      ++(e == vole::errc::canceled ? cancelled : timed_out);
      EXPECT_EQ(e, below.err());
    } while (!limit.over());
  };
  vole::run([&] { together(6, 2, live); });
  expect_clean();
  together(0, 3, live);  // without run()
  vole::shutdown();
  EXPECT_GT(timed_out + cancelled, 0);
}

TEST_P(ContextStress, StopRequestsRaceCancels) {
  const vole_test::time_limit limit;
  vole::run([&] {
    for (dice d(60); !limit.over();) {
      std::stop_source source;
      std::optional<vole::cancelable> made(
          vole::with_stop_token(context::background(), source.get_token()));
      const context ctx = made->ctx;
      std::optional<vole::cancelable> below(vole::with_stop_token(ctx, ctx.stop_token()));
      const context last = below->ctx;
      std::atomic<int> ran{0};
      (void)vole::after_func(last, [&ran] { ++ran; });
      const std::uint64_t seed = d.fork();
      together(3, d.below(8) == 0 ? 1 : 0, [&](std::uint64_t i) {
        dice mine(seed + i);
        linger(mine);
        bool over = true;
        switch (i) {
          case 1: mine.below(2) == 0 ? made->cancel() : made.reset(); break;
          case 2:
            below.reset();
            over = false;
            break;
          default: over = source.request_stop();  // false: another one is just calling back
        }
        if (over) {
          EXPECT_TRUE(ctx.err());
        }
        if (last.err()) {
          EXPECT_TRUE(closed(last));
        }
      });
      EXPECT_TRUE(last.err());
      while (ran == 0) vole::yield();
      EXPECT_EQ(ran, 1);
    }
  });
  expect_clean();
}

// Every start of a timer ends in one run, or in one stop() or reset() that says it was pending.
TEST_P(ContextStress, TimersAddUp) {
  const vole_test::time_limit limit;
  vole::run([&] {
    for (dice d(80); !limit.over();) {
      std::atomic<int> ran{0}, started{1}, prevented{0};
      auto token = std::make_shared<int>(0);
      {
        auto timer = vole::after_func(microseconds(d.below(50)), [&ran, token] { ++ran; });
        const std::uint64_t seed = d.fork();
        together(3, d.below(8) == 0 ? 1 : 0, [&](std::uint64_t i) {
          dice mine(seed + i);
          for (int k = 0; k < 5; ++k) {
            linger(mine);
            if (mine.below(3) == 0) {
              if (timer.stop()) ++prevented;
            } else {
              ++started;
              if (timer.reset(microseconds(mine.below(100)))) ++prevented;
            }
          }
        });
        if (d.below(2) == 0 && timer.stop()) ++prevented;
      }
      while (token.use_count() != 1) vole::yield();
      EXPECT_EQ(ran + prevented, started);
    }
  });
  expect_clean();
}

// Runtimes end while deadlines expire; the contexts live on, and are cancelled afterwards. Nothing
// is lost (the leak checker sees it):
//
//     the deadline's goroutine             the runtime
//     cancels a tree; holds references
//       to all of it; leaves, is asked
//       to stay                            ends: gives back what the goroutine's record
//                                            says it holds
TEST_P(ContextStress, RuntimesEndUnderDeadlines) {
  const vole_test::time_limit limit;
  for (dice d(90); !limit.over();) {
    std::vector<vole::cancelable> kept;
    std::vector<vole::func_timer> timers;
    std::atomic<int> ran{0};
    vole::run([&] {
      const context top = kept.emplace_back(vole::with_cancel(context::background())).ctx;
      for (int i = 0; i < 20; ++i) {
        kept.push_back(vole::with_timeout(top, microseconds(d.below(1000))));
        timers.push_back(vole::after_func(microseconds(d.below(1000)), [&ran] { ++ran; }));
      }
      vole::sleep_for(microseconds(d.below(1000)));
    });
    for (vole::func_timer& t : timers) EXPECT_FALSE(t.stop());
    kept.front().cancel();
    for (const vole::cancelable& c : kept) EXPECT_TRUE(closed(c.ctx) && c.ctx.err());
  }
  allow_zombies();
}

}  // namespace
