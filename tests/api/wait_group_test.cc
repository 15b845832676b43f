// wait_group: from goroutines and plain threads alike, round after round, and the waiter
// may destroy it at once.

#include <vole/vole.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "fixture.h"

namespace {

class WaitGroup : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(WaitGroup);

static_assert(!std::is_copy_constructible_v<vole::wait_group>);
constinit vole::wait_group at_file_scope;

TEST_P(WaitGroup, WaitOnZeroReturnsAtOnce) {
  vole::wait_group wg;
  wg.wait();
  run([&] { wg.wait(); });
}

TEST_P(WaitGroup, WaitsForAll) {
  run([] {
    std::atomic<int> done{0};
    for (int i = 0; i < 100; ++i)
      at_file_scope.go([&] {
        vole::yield();
        ++done;
      });
    at_file_scope.wait();
    EXPECT_EQ(done, 100);
  });
}

TEST_P(WaitGroup, AddTakesAnyNumber) {
  run([] {
    vole::wait_group wg;
    wg.add(1000);
    wg.add(-999);
    vole::go([&] { wg.done(); });
    wg.wait();
  });
}

TEST_P(WaitGroup, IsReusableAfterWait) {
  run([] {
    vole::wait_group wg;
    int plain = 0;  // wait() orders it
    for (int round = 0; round < 500; ++round) {
      wg.go([&] { ++plain; });
      wg.wait();
      ASSERT_EQ(plain, round + 1);
    }
  });
}

TEST_P(WaitGroup, ReleasesManyWaiters) {
  run([] {
    vole::wait_group gate, all;
    std::atomic<int> through{0};
    gate.add();
    for (int i = 0; i < 200; ++i)
      all.go([&] {
        gate.wait();
        ++through;
      });
    for (int i = 0; i < 10; ++i) vole::yield();
    EXPECT_EQ(through, 0);
    gate.done();
    all.wait();
    EXPECT_EQ(through, 200);
  });
}

TEST_P(WaitGroup, MixesGoroutinesAndPlainThreads) {
  run([] {
    vole::wait_group gate, through;
    std::atomic<int> n{0};
    constexpr int kThreads = 4, kGoroutines = 50;
    gate.add(2);
    through.add(kThreads + kGoroutines);
    const auto pass = [&] {
      gate.wait();
      ++n;
      through.done();
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(pass);
    for (int i = 0; i < kGoroutines; ++i) vole::go(pass);
    vole::yield();
    EXPECT_EQ(n, 0);
    std::thread([&] { gate.done(); }).join();
    gate.done();
    through.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(n, kThreads + kGoroutines);
  });
}

TEST_P(WaitGroup, WorksWithoutARuntime) {
  vole::wait_group wg;
  int plain = 0;
  wg.add(2);
  std::thread a([&] { wg.done(); });
  std::thread b([&] {
    plain = 5;
    wg.done();
  });
  wg.wait();
  EXPECT_EQ(plain, 5);
  a.join();
  b.join();
  EXPECT_EQ(vole::num_goroutines(), 0u);
}

// Once done() has released the waiter it does not touch the object. ASan and TSan watch.
TEST_P(WaitGroup, WaitingGoroutineMayDestroyItAtOnce) {
  run([] {
    for (int i = 0; i < 3000; ++i) {
      auto wg = std::make_unique<vole::wait_group>();
      wg->add();
      vole::go([p = wg.get()] { p->done(); });
      if (i % 3 != 0) vole::yield();
      wg->wait();
      wg.reset();
    }
  });
}

TEST_P(WaitGroup, WaitingThreadMayDestroyItAtOnce) {
  for (int i = 0; i < 2000; ++i) {
    auto wg = std::make_unique<vole::wait_group>();
    wg->add();
    vole::go([p = wg.get()] { p->done(); });
    wg->wait();
    wg.reset();
  }
}

TEST_P(WaitGroup, PlainThreadReleasesAGoroutineThatDestroysIt) {
  run([] {
    std::atomic<vole::wait_group*> next{nullptr};
    std::atomic<bool> stop{false};
    std::thread releaser([&] {
      while (!stop)
        if (vole::wait_group* wg = next.exchange(nullptr)) wg->done();
    });
    for (int i = 0; i < 1000; ++i) {
      vole::wait_group wg;
      wg.add();
      next = &wg;
      wg.wait();
    }
    stop = true;
    releaser.join();
  });
}

// The pair always finds the other one in runnext; the third waits in the global queue. Since a slice is
// inherited with runnext, it ends for both of them together.
TEST_P(WaitGroup, PairReadyingEachOtherDoesNotStarveAThird) {  // [5]
  run([] {
    std::atomic<bool> third_ran{false}, starved{false};
    const vole::chan<int> there, back;
    vole::wait_group done;
    std::thread([&] { done.go([&] { third_ran = true; }); }).join();
    done.go([&] {
      const auto until = vole::now() + std::chrono::seconds(20);
      while (!third_ran && !starved) {
        there.send(1);
        back.recv();
        starved = vole::now() > until;
      }
      there.close();
    });
    done.go([&] {
      for (const int v : there) back.send(v);
    });
    done.wait();
    EXPECT_FALSE(starved) << "the third ran only after the pair had finished";
  });
}

TEST_P(WaitGroup, GoTakesArgumentsAsVoleGoDoes) {
  run([] {
    vole::wait_group wg;
    std::string original = "kept";
    std::atomic<int> sum{0};
    int through_ref = 1;
    for (int i = 1; i <= 3; ++i) wg.go([&sum](int n) { sum += n; }, i);
    wg.go([](std::string copy, int& ref) { ref = copy == "kept" ? 2 : -1; }, original,
          std::ref(through_ref));
    original = "changed";
    wg.go([&sum](std::unique_ptr<int> p) { sum += *p; }, std::make_unique<int>(10));
    wg.go([&sum](const std::array<int, 100>& big) { sum += big[99]; }, [] {
      std::array<int, 100> a{};
      a[99] = 100;
      return a;
    }());
    struct counter {
      std::atomic<int> n{0};
      void add(int k) { n += k; }
    } c;
    wg.go(&counter::add, &c, 7);
    wg.wait();
    EXPECT_EQ(sum, 116);
    EXPECT_EQ(through_ref, 2);
    EXPECT_EQ(c.n, 7);
  });
}

struct throws_when_moved {
  throws_when_moved() = default;
  throws_when_moved(const throws_when_moved&) { throw std::bad_alloc(); }
};

TEST_P(WaitGroup, AnArgumentThatCannotBeCopiedLeavesNoTrace) {
  run([] {
    vole::wait_group wg;
    const throws_when_moved bad;
    EXPECT_THROW(wg.go([](const throws_when_moved&) { ADD_FAILURE(); }, bad), std::bad_alloc);
    wg.wait();
  });
}

TEST_P(WaitGroup, ArgumentsAreDestroyedBeforeItIsDone) {
  run([] {
    auto shared = std::make_shared<int>(0);
    for (int i = 0; i < 200; ++i) {
      vole::wait_group wg;
      wg.go([](const std::shared_ptr<int>&) {}, shared);
      wg.go([](const std::shared_ptr<int>&) { vole::exit_goroutine(); }, shared);
      wg.wait();
      ASSERT_EQ(shared.use_count(), 1);
    }
  });
}

}  // namespace
