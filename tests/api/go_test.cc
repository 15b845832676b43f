// go(): what is copied, what is moved, what is refused, and how many.

#include <vole/vole.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "fixture.h"

namespace {

using vole_test::kSanitized;

class Go : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Go);

// Runs `start`, which starts goroutines that count down `left`, and waits for them.
template <class Start>
void until_done(int n, Start start) {
  vole::wait_group left;
  left.add(n);
  start(left);
  left.wait();
}

TEST_P(Go, MovesMoveOnlyFunctionsAndArguments) {
  run([] {
    std::atomic<int> sum{0};
    until_done(2, [&](vole::wait_group& left) {
      vole::go([p = std::make_unique<int>(1), &sum, &left] {
        sum += *p;
        left.done();
      });
      vole::go(
          [&sum, &left](std::unique_ptr<int> p) {
            sum += *p;
            left.done();
          },
          std::make_unique<int>(20));
    });
    EXPECT_EQ(sum, 21);
  });
}

TEST_P(Go, DecaysArgumentsAsStdThreadDoes) {
  run([] {
    until_done(1, [](vole::wait_group& left) {
      char text[] = "before";
      std::string original = "kept";
      int through_ref = 1;
      vole::go(
          [](auto&& array, std::string copy, int& ref, vole::wait_group& l) {
            static_assert(std::is_same_v<std::decay_t<decltype(array)>, char*>);
            EXPECT_EQ(copy, "kept");
            ref = 2;
            l.done();
          },
          text, original, std::ref(through_ref), std::ref(left));
      original = "changed";
      left.wait();
      EXPECT_EQ(through_ref, 2);
    });
  });
}

struct counter {
  std::atomic<int> n{0};
  vole::wait_group* left = nullptr;
  void add(int k) {
    n += k;
    left->done();
  }
};

TEST_P(Go, CallsMemberFunctions) {
  run([] {
    counter c;
    until_done(2, [&](vole::wait_group& left) {
      c.left = &left;
      vole::go(&counter::add, &c, 5);
      vole::go(&counter::add, std::ref(c), 6);
    });
    EXPECT_EQ(c.n, 11);
  });
}

TEST_P(Go, TakesCallablesLargerThanTheRecord) {
  run([] {
    std::array<int, 100> big{};
    for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<int>(i);
    std::atomic<int> sum{0};
    until_done(1, [&](vole::wait_group& left) {
      vole::go([big, &sum, &left, text = std::string(1000, 'x')] {
        for (const int i : big) sum += i;
        sum += static_cast<int>(text.size());
        left.done();
      });
    });
    EXPECT_EQ(sum, 4950 + 1000);
  });
}

struct alignas(128) over_aligned {
  int value = 3;
};

TEST_P(Go, KeepsTheAlignmentOfOverAlignedCallables) {
  run([] {
    until_done(1, [](vole::wait_group& left) {
      vole::go([o = over_aligned{}, &left] {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&o) % 128, 0u);
        EXPECT_EQ(o.value, 3);
        left.done();
      });
    });
  });
}

template <std::size_t Bytes>
struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(const throws_when_copied&) { throw std::runtime_error("copy"); }
  void operator()() const { ADD_FAILURE() << "it was started"; }
  char bytes[Bytes] = {};
};

template <std::size_t Bytes>
void expect_go_throws() {
  const throws_when_copied<Bytes> fn;
  const std::size_t before = vole::num_goroutines();
  EXPECT_THROW(vole::go(fn), std::runtime_error);
  EXPECT_THROW(static_cast<void>(vole::spawn(fn)), std::runtime_error);
  EXPECT_EQ(vole::num_goroutines(), before);
}

// The quick way in. is_trivially_copyable will not do: g++ 12 takes it back from a lambda once there
// is a tuple of it.
TEST(GoCopies, LambdasTravelAsBytesUnlessTheirMoveDoesMore) {
  int n = 0;
  const auto refers = [&n] { ++n; };
  const auto owns = [text = std::string("x")] { return text.size(); };
  static_assert(sizeof(vole::detail::packed<decltype(refers)>) == sizeof(int*));
  static_assert(vole::detail::moves_as_bytes<std::decay_t<decltype(refers)>>);
  static_assert(sizeof(vole::detail::packed<decltype(owns)>) >= sizeof(std::string));
  static_assert(!vole::detail::moves_as_bytes<std::decay_t<decltype(owns)>>);
}

TEST_P(Go, StartsNothingIfTheCopyThrows) {
  run([] {
    for (int i = 0; i < 100; ++i) {
      expect_go_throws<8>();    // in the record
      expect_go_throws<200>();  // in a box
    }
    vole::wait_group wg;
    const throws_when_copied<8> fn;
    EXPECT_THROW(wg.go(fn), std::runtime_error);
    wg.wait();  // counted down again
  });
  expect_go_throws<8>();  // on a plain thread, which starts the runtime for it
  expect_go_throws<200>();
}

TEST_P(Go, RefusesBadStackSizes) {
  run([] {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{16383}, (std::size_t{1} << 30) + 1,
                                    SIZE_MAX}) {
      EXPECT_THROW(vole::go({.stack_size = bytes}, [] {}), std::invalid_argument) << bytes;
      EXPECT_THROW(static_cast<void>(vole::spawn({.stack_size = bytes}, [] {})),
                   std::invalid_argument);
      EXPECT_THROW(vole::go({.stack_size = bytes}, [p = std::make_unique<int>()] {}),
                   std::invalid_argument);
    }
    EXPECT_EQ(vole::num_goroutines(), 1u);
  });
}

[[gnu::noinline]] int deep(int levels) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(levels);
  const int below = levels == 0 ? 0 : deep(levels - 1) + 1;
  return frame[0] == static_cast<char>(levels) ? below : -1;
}

TEST_P(Go, RecursesDeeplyOnALargeStack) {
  static constexpr int kLevels = 10'000;  // 10 MiB and more
  run([] {
    EXPECT_EQ(vole::spawn({.name = "deep", .stack_size = 64u << 20}, deep, kLevels).join(), kLevels);
    auto small = vole::spawn({.stack_size = 64 * 1024}, [] { return deep(10); });
    EXPECT_EQ(small.join(), 10);
  });
}

TEST_P(Go, ComesFromManyPlainThreadsAtOnce) {
  constexpr int kThreads = 4, kEach = 500;
  for (int round = 0; round < 3; ++round) {  // without run(): the first go() starts the runtime
    std::atomic<int> ran{0};
    vole::wait_group left;
    left.add(kThreads * kEach);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i)
          vole::go([&] {
            ++ran;
            left.done();
          });
      });
    left.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(ran, kThreads * kEach);
    vole::shutdown();
  }
}

TEST_P(Go, StartsAMillion) {
  constexpr int kMany = kSanitized ? 100'000 : 1'000'000;
  std::atomic<int> ran{0};
  EXPECT_EQ(vole::run([&] {
              until_done(kMany, [&](vole::wait_group& left) {
                for (int i = 0; i < kMany; ++i)
                  vole::go([&ran, &left] {
                    ran.fetch_add(1, std::memory_order_relaxed);
                    left.done();
                  });
              });
              return 0;
            }),
            0);
  EXPECT_EQ(ran, kMany);
}

TEST_P(Go, JoinsAHundredThousand) {
  constexpr int kMany = 100'000;
  vole::run([] {
    std::vector<vole::join_handle<int>> handles;
    handles.reserve(kMany);
    for (int i = 0; i < kMany; ++i) handles.push_back(vole::spawn([i] { return i; }));
    std::int64_t sum = 0;
    for (auto& h : handles) sum += h.join();
    EXPECT_EQ(sum, std::int64_t{kMany} * (kMany - 1) / 2);
  });
}

}  // namespace
