// concurrent_map: each operation, exceptions, and what may happen at the same time.

#include <vole/concurrent_map.h>
#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "fixture.h"

namespace {

using vole::concurrent_map;

class ConcurrentMap : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(ConcurrentMap);

TEST_P(ConcurrentMap, LoadsWhatWasStored) {
  run([] {
    concurrent_map<std::string, int> m;
    EXPECT_TRUE(m.empty());
    EXPECT_EQ(m.load("a"), std::nullopt);
    m.store("a", 1);
    m.store("a", 2);
    EXPECT_EQ(m.load("a"), 2);
    EXPECT_TRUE(m.contains("a"));
    EXPECT_EQ(m.swap("a", 3), 2);
    EXPECT_EQ(m.swap("b", 4), std::nullopt);
    EXPECT_EQ(m.size(), 2u);
    EXPECT_EQ(m.load_or_store("a", 9), std::pair(3, true));
    EXPECT_EQ(m.load_or_store("c", 9), std::pair(9, false));
    EXPECT_EQ(m.load_and_delete("c"), 9);
    EXPECT_EQ(m.load_and_delete("c"), std::nullopt);
    EXPECT_TRUE(m.erase("b"));
    EXPECT_FALSE(m.erase("b"));
    EXPECT_FALSE(m.compare_and_swap("a", 7, 8));
    EXPECT_TRUE(m.compare_and_swap("a", 3, 8));
    EXPECT_FALSE(m.compare_and_swap("none", 3, 8));
    EXPECT_FALSE(m.compare_and_delete("a", 3));
    EXPECT_TRUE(m.compare_and_delete("a", 8));
    EXPECT_TRUE(m.empty());
    m.store("x", 1);
    m.clear();
    EXPECT_FALSE(m.contains("x"));
  });
}

TEST_P(ConcurrentMap, UpdateMakesChangesAndErases) {
  run([] {
    concurrent_map<int, int> m;
    const auto add_one = [](std::optional<int>& n) { n = n.value_or(0) + 1; };
    m.update(5, add_one);
    m.update(5, add_one);
    EXPECT_EQ(m.load(5), 2);
    m.update(5, [](std::optional<int>& n) { n.reset(); });
    EXPECT_FALSE(m.contains(5));
    m.update(5, [](std::optional<int>&) {});
    EXPECT_FALSE(m.contains(5)) << "nothing stays nothing";
    m.store(5, 1);
    EXPECT_THROW(m.update(5,
                          [](std::optional<int>& n) {
                            n = 7;
                            throw std::runtime_error("no");
                          }),
                 std::runtime_error);
    EXPECT_EQ(m.load(5), 1) << "as it was";
  });
}

TEST_P(ConcurrentMap, ForEachSeesAllAndMayChange) {
  run([] {
    concurrent_map<int, int> m;
    for (int i = 0; i < 1000; ++i) m.store(i, i * 2);
    std::set<int> seen;
    m.for_each([&](int key, int value) {
      EXPECT_EQ(value, key * 2);
      EXPECT_TRUE(seen.insert(key).second);
      if (key % 2 == 0) m.erase(key);
    });
    EXPECT_EQ(seen.size(), 1000u);
    EXPECT_EQ(m.size(), 500u);
    int n = 0;
    m.for_each([&](int, int) { return ++n < 3; });
    EXPECT_EQ(n, 3) << "false ends it";
  });
}

struct awkward {
  int n = 0;
  static inline bool refuses = false;
  explicit awkward(int v) : n(v) {}
  awkward(const awkward& other) : n(other.n) {
    if (refuses) throw std::runtime_error("no copy");
  }
  awkward& operator=(const awkward&) = default;
};

TEST_P(ConcurrentMap, AThrowingCopyLeavesItAsItWas) {
  run([] {
    concurrent_map<int, awkward> m;
    m.store(1, awkward(1));
    awkward::refuses = true;
    EXPECT_THROW((void)m.load(1), std::runtime_error);
    awkward::refuses = false;
    EXPECT_EQ(m.load(1)->n, 1);
    EXPECT_EQ(m.size(), 1u);
  });
}

struct by_last_digit {
  std::size_t operator()(int n) const { return static_cast<std::size_t>(n % 10); }
};

TEST_P(ConcurrentMap, BadHashesAndOwnHashes) {
  run([] {
    concurrent_map<int, std::shared_ptr<int>, by_last_digit> m{by_last_digit()};
    for (int i = 0; i < 100; ++i) m.store(i, std::make_shared<int>(i));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(**m.load(i), i);
    EXPECT_EQ(m.size(), 100u);
  });
}

TEST_P(ConcurrentMap, OneOfManyStores) {
  run([] {
    concurrent_map<int, int> m;
    std::atomic<int> first{0};
    vole::wait_group all;
    for (int i = 0; i < 50; ++i)
      all.go([&, i] {
        const auto [value, was_there] = m.load_or_store(7, i);
        if (!was_there) {
          EXPECT_EQ(value, i);
          ++first;
        }
      });
    all.wait();
    EXPECT_EQ(first, 1);
  });
}

TEST_P(ConcurrentMap, AValueMayWaitWhileItIsChanged) {
  run([] {
    concurrent_map<int, int> m;
    vole::chan<> entered, go_on;
    auto slow = vole::spawn([&] {
      m.update(1, [&](std::optional<int>& n) {
        entered.send();
        go_on.recv();
        n = 1;
      });
    });
    entered.recv();
    auto other = vole::spawn([&] { return m.swap(1, 2); });
    for (int i = 0; i < 100; ++i) vole::yield();
    go_on.send();
    slow.join();
    EXPECT_EQ(other.join(), 1) << "one after the other";
  });
}

TEST_P(ConcurrentMap, OnPlainThreads) {
  concurrent_map<int, int> m;
  std::thread a([&] { m.store(1, 1); });
  std::thread b([&] { m.store(2, 2); });
  a.join();
  b.join();
  EXPECT_EQ(m.size(), 2u);
}

}  // namespace
