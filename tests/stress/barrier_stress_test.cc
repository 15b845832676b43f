// barrier, latch, wait_group and condition_variable while contexts end the waits; whoever is the last
// to be through destroys the object.

#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "stress.h"

namespace {

using vole_test::dice;

VOLE_STRESS(BarrierStress);

struct group {
  explicit group(int n) { g.add(n); }
  void count() { g.done(); }
  void wait() { g.wait(); }
  bool wait(const vole::context& ctx, std::error_code& e) { return g.wait(ctx, e); }
  vole::wait_group g;
};

struct latch {
  explicit latch(int n) : l(n) {}
  void count() { l.count_down(); }
  void wait() { l.wait(); }
  bool wait(const vole::context& ctx, std::error_code& e) { return l.wait(ctx, e); }
  vole::latch l;
};

// Some wait, half of them with a context that is cancelled meanwhile; some count down.
template <class Object>
struct gate {
  gate(int doers, int waiters) : object(doers), inside(waiters) {}
  Object object;
  std::atomic<int> inside;

  void pass(bool patient, const vole::context& ctx) {
    std::error_code error;
    if (patient) {
      object.wait();
    } else if (!object.wait(ctx, error)) {
      EXPECT_EQ(error, vole::errc::canceled);
    }
    if (--inside != 0) return;
    object.wait();
    delete this;
  }
};

template <class Object>
void pass_gates(const vole_test::time_limit& limit) {
  dice d(1);
  while (!limit.over()) {
    const int waiters = 1 + static_cast<int>(d.below(5)), doers = 1 + static_cast<int>(d.below(3));
    auto* const g = new gate<Object>(doers, waiters);
    auto [ctx, cancel] = vole::with_cancel(vole::context::background());
    vole::wait_group all;
    std::thread plain;
    for (int i = 0; i < waiters; ++i) {
      const auto wait = [g, patient = d.below(2) == 0, ctx = ctx] { g->pass(patient, ctx); };
      i == 0 && d.below(8) == 0 ? void(plain = std::thread(wait)) : all.go(wait);
    }
    for (int i = 0; i < doers; ++i)
      all.go([g, yields = d.below(3)] {
        for (std::uint32_t k = 0; k < yields; ++k) vole::yield();
        g->object.count();
      });
    for (std::uint32_t k = d.below(4); k > 0; --k) vole::yield();
    cancel();
    all.wait();
    if (plain.joinable()) plain.join();
  }
}

TEST_P(BarrierStress, CancelledWaitsForAGroup) {
  const vole_test::time_limit limit(std::chrono::milliseconds(400));
  vole::run([&] { pass_gates<group>(limit); });
  expect_clean();
}

TEST_P(BarrierStress, CancelledWaitsForALatch) {
  const vole_test::time_limit limit(std::chrono::milliseconds(400));
  vole::run([&] { pass_gates<latch>(limit); });
  expect_clean();
}

// Parties that wait, give up waiting, or drop out; a plain thread among them.
TEST_P(BarrierStress, PhasesEndWhoeverGivesUp) {
  const vole_test::time_limit limit(std::chrono::milliseconds(400));
  vole::run([&] {
    dice d(2);
    while (!limit.over()) {
      constexpr int kParties = 4, kPhases = 20;
      int phases = 0;
      vole::barrier b(kParties, [&]() noexcept { ++phases; });
      vole::wait_group all;
      auto [ctx, cancel] = vole::with_cancel(vole::context::background());
      const auto keep_on = [&b, ctx = ctx](int drops_at) {
        for (int n = 0; n < kPhases; ++n) {
          if (n == drops_at) return b.arrive_and_drop();
          auto token = b.arrive();
          std::error_code error;
          if (b.wait(std::move(token), ctx, error)) continue;
          EXPECT_EQ(error, vole::errc::canceled);
          b.wait(std::move(token));  // NOLINT: it may be used again
        }
      };
      for (int i = 0; i < kParties - 1; ++i)
        all.go(keep_on, i == 0 ? static_cast<int>(d.below(kPhases)) : -1);
      std::thread plain(keep_on, -1);
      for (std::uint32_t k = d.below(40); k > 0; --k) vole::yield();
      cancel();
      all.wait();
      plain.join();
      EXPECT_EQ(phases, kPhases);
    }
  });
  expect_clean();
}

// Each notify goes to one who waits for it or, if that one was cancelled, to another.
TEST_P(BarrierStress, CancelledWaitsForANotify) {
  const vole_test::time_limit limit(std::chrono::milliseconds(400));
  vole::run([&] {
    vole::mutex m;
    vole::condition_variable changed;
    int ready = 0;
    std::atomic<int> made{0}, taken{0};
    vole::wait_group all, cancels;
    std::atomic<bool> stop{false};
    const auto take = [&](std::uint64_t stream) {
      for (dice d(stream); !stop;) {
        auto [ctx, cancel] = vole::with_cancel(vole::context::background());
        if (d.below(2) == 0)
          cancels.go([c = std::make_shared<vole::cancel_function>(std::move(cancel))] { (*c)(); });
        std::unique_lock lock(m);
        std::error_code error;
        if (!changed.wait(
                lock, ctx, [&] { return ready != 0 || stop; }, error) ||
            ready == 0)
          continue;
        --ready;
        ++taken;
      }
    };
    for (std::uint64_t i = 0; i < 4; ++i) all.go(take, i);
    std::thread plain(take, 9);
    while (!limit.over()) {
      {
        const std::lock_guard lock(m);
        ++ready;
        ++made;
      }
      changed.notify_one();
      vole::yield();
    }
    {
      const std::lock_guard lock(m);
      stop = true;
    }
    changed.notify_all();
    all.wait();
    plain.join();
    cancels.wait();  // one that is abandoned does not let go of its context
    EXPECT_EQ(made, taken + ready);
  });
  expect_clean();
}

}  // namespace
