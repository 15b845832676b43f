// pool: what is put comes back, is shared between processors, and is destroyed with the pool.

#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

class Pool : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, Pool, testing::Values(1, 2, 4, 64), vole_test::procs_name);

constinit vole::pool<int> made_at_compile_time([] { return 7; });

TEST_P(Pool, MakesWhenEmptyAndGivesBackWhatWasPut) {
  EXPECT_EQ(made_at_compile_time.get(), 7);
  made_at_compile_time.put(8);
  EXPECT_EQ(made_at_compile_time.get(), 8);
  run([] {
    int made = 0;
    vole::pool<std::unique_ptr<int>> p([&] { return std::make_unique<int>(++made); });
    auto v = p.get();
    EXPECT_EQ(*v, 1);
    p.put(std::move(v));
    for (int i = 0; i < 10; ++i) {
      auto again = p.get();
      EXPECT_EQ(*again, 1);
      p.put(std::move(again));
      vole::yield();
    }
    EXPECT_EQ(made, 1);
  });
}

TEST_P(Pool, TakesFromOtherProcessorsBeforeMaking) {
  run([] {
    std::atomic<int> made{0};
    vole::pool<int> p([&] { return ++made; });
    vole::wait_group put;
    for (int i = 0; i < 40; ++i) put.go([&, i] { p.put(-i - 1); });
    put.wait();
    std::set<int> got;
    std::thread([&] {
      for (int i = 0; i < 40; ++i) got.insert(p.get());
    }).join();
    EXPECT_EQ(made.load(), 0);
    EXPECT_EQ(got.size(), 40u);
    EXPECT_EQ(p.get(), 1);
  });
}

struct counted {
  explicit counted(std::atomic<int>* n) : alive(n) { ++*alive; }
  counted(counted&& other) noexcept : alive(other.alive) { ++*alive; }
  counted& operator=(counted&&) = delete;
  ~counted() { --*alive; }
  std::atomic<int>* alive;
};

TEST_P(Pool, DestroysWhatIsLeft) {
  run([] {
    std::atomic<int> alive{0};
    {
      vole::pool<counted> p([&] { return counted(&alive); });
      std::vector<counted> out;
      out.reserve(20);
      for (int i = 0; i < 20; ++i) out.push_back(p.get());
      for (counted& c : out) p.put(std::move(c));
      out.clear();
      EXPECT_EQ(alive.load(), 20);
    }
    EXPECT_EQ(alive.load(), 0);
  });
}

TEST_P(Pool, EachValueHasOneUserAtATime) {
  run([] {
    vole::pool<std::unique_ptr<std::atomic<int>>> p(
        [] { return std::make_unique<std::atomic<int>>(0); });
    const auto use = [&] {
      for (int i = 0; i < 300; ++i) {
        auto v = p.get();
        EXPECT_EQ(v->exchange(1), 0);
        if (i % 8 == 0) vole::yield();
        EXPECT_EQ(v->exchange(0), 1);
        p.put(std::move(v));
      }
    };
    vole::wait_group all;
    std::vector<std::thread> threads;
    for (int g = 0; g < 16; ++g) all.go(use);
    for (int t = 0; t < 3; ++t) threads.emplace_back(use);
    all.wait();
    for (std::thread& t : threads) t.join();
  });
}

TEST_P(Pool, MakeMayThrowAndPark) {
  run([] {
    int calls = 0;
    vole::pool<std::string> p([&]() -> std::string {
      vole::yield();
      if (++calls == 1) throw std::runtime_error("no");
      return "yes";
    });
    EXPECT_THROW(static_cast<void>(p.get()), std::runtime_error);
    EXPECT_EQ(p.get(), "yes");
  });
}

}  // namespace
