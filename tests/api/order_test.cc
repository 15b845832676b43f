// The order in which goroutines run, seen from outside at one P [11].
// Without eviction: a goroutine that lost its P to a busy machine runs on beside the next one, and
// these share plain variables.

#include <vole/vole.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

[[maybe_unused]] const int one_at_a_time = setenv("VOLE_DEBUG", "evict=0", 1);

class Order : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, Order, testing::Values(1), vole_test::procs_name);

constexpr std::size_t kLocal = 200, kGlobal = 40;

// One letter for each goroutine in the order they ran: main's own, l, and those that a plain thread
// queued globally, g. Empty: somebody ran before all of them were there.
std::string who_ran() {
  std::string log;
  log.reserve(kLocal + kGlobal);
  vole::wait_group done;
  std::thread([&] {
    for (std::size_t i = 0; i < kGlobal; ++i) done.go([&] { log += 'g'; });
  }).join();
  for (std::size_t i = 0; i < kLocal; ++i) done.go([&] { log += 'l'; });
  const bool all_were_there = vole::stats().global_queue == kGlobal && log.empty();
  done.wait();
  return all_were_there ? log : "";
}

TEST_P(Order, LocalBeforeGlobalButForEvery61st) {  // [9] [11]
  run([] {
    std::string log;
    vole_test::eventually([&] { return !(log = who_ran()).empty(); });
    ASSERT_EQ(log.size(), kLocal + kGlobal);
    const std::size_t last_local = log.rfind('l');
    const std::string mixed = log.substr(0, last_local + 1);
    std::vector<std::size_t> fair;
    for (std::size_t i = mixed.find('g'); i != std::string::npos; i = mixed.find('g', i + 1))
      fair.push_back(i);
    EXPECT_GE(fair.size(), kLocal / 61) << log;
    EXPECT_LE(fair.size(), kLocal / 61 + 1) << log;
    for (std::size_t i = 1; i < fair.size(); ++i)
      EXPECT_EQ(fair[i] - fair[i - 1], 61u) << "exactly one, each 61st time: " << log;
  });
}

// The newest newborn is in runnext, which the one before it had to leave for the ring's tail.
TEST_P(Order, TheLastNewbornFirstThenInOrder) {  // [5]
#if !defined(NDEBUG) && !defined(VOLE_TEST_RELEASE)
  GTEST_SKIP() << "checked builds shuffle: release_api_order_test tells";
#endif
  run([] {
    constexpr int kN = 20;
    std::vector<int> ran, expected{kN};
    for (int i = 1; i < kN; ++i) expected.push_back(i);
    vole::wait_group done;
    for (int i = 1; i <= kN; ++i) done.go([&ran, i] { ran.push_back(i); });
    done.wait();
    EXPECT_EQ(ran, expected) << "N, 1, 2, ..., N - 1";
  });
}

// A goroutine that was made ready runs before those that wait in the ring, and it shares the slice
// of who readied it: the two cannot keep the ring waiting for ever.
TEST_P(Order, RunnextFirst) {  // [5] [11]
  run([] {
    std::string log;
    vole::wait_group gate, done;
    gate.add();
    done.go([&] {
      gate.wait();
      log += 'n';
    });
    vole::yield();  // it waits now
    for (int i = 0; i < 5; ++i) done.go([&] { log += 'r'; });
    gate.done();
    done.wait();
    EXPECT_EQ(log, "nrrrrr");
  });
}

TEST_P(Order, YieldsShareThePEvenly) {  // [10]
  run([] {
    constexpr int kRunners = 5, kSteps = 2000;
    std::array<int, kRunners> steps{};
    bool stop = false;
    vole::wait_group done;
    for (int& mine : steps)
      done.go([&] {
        while (!stop) {
          if (++mine >= kSteps) stop = true;
          vole::yield();
        }
      });
    done.wait();
    for (const int s : steps) EXPECT_GT(s, kSteps / 4);
  });
}

// A tree of goroutines that wait for their children: the newest first, once there are many, so that
// few wait at once. Breadth first it would be most of a generation.
TEST_P(Order, AWideTreeIsWalkedDepthFirst) {
  struct tree {
    static void grow(int depth, long& alive, long& most) {
      vole::wait_group children;
      for (int i = 0; depth > 0 && i < 10; ++i) {
        most = std::max(most, ++alive);
        children.go([&alive, &most, depth] { grow(depth - 1, alive, most); });
      }
      children.wait();
      --alive;
    }
  };
  run([] {
    long alive = 1, most = 1;
    tree::grow(4, alive, most);
    EXPECT_EQ(alive, 0);
    EXPECT_LT(most, 900) << "of 11,111; oldest first it is 1,400";
  });
}

// A crowd of newborns that never gets smaller: each has one more like itself and one that runs at
// once and ends. It stops when nobody is left who came before it.
struct crowd {
  int& before;
  int& fed;
  int enough;
  std::chrono::milliseconds each;

  void feed() const {
    if (before == 0 || ++fed > enough) return;
    const auto until = std::chrono::steady_clock::now() + each;
    while (std::chrono::steady_clock::now() < until) {
    }
    vole::go([*this] { feed(); });
    vole::go([] {});
  }
};

// How many of a crowd ran before `old` that came earlier did.
int fed_before(int old, int enough, std::chrono::milliseconds each) {
  constexpr int kWaiting = 100;
  int before = old, fed = 0;
  vole::wait_group done;
  for (int i = 0; i < old; ++i) done.go([&] { --before; });
  for (int i = 0; i < kWaiting; ++i)
    done.go([&] { crowd{before, fed, enough, each}.feed(); });
  done.wait();
  EXPECT_EQ(before, 0);
  while (vole::num_goroutines() > 1) vole::yield();
  return fed;
}

// The newest first, but not only they: those that came before get every 16th turn.
TEST_P(Order, TheOldestIsNotForgottenForTheNewest) {
  run([] { EXPECT_LT(fed_before(1, 200, std::chrono::milliseconds(0)), 200); });
}

// And a turn a millisecond: one in 16 would be little where turns are long.
TEST_P(Order, NewbornsThatTakeLongAreServedInTurn) {
  constexpr int kOld = 16, kSixteenEach = 16 * kOld;
  run([] {
    EXPECT_LT(fed_before(kOld, kSixteenEach, std::chrono::milliseconds(3)), kSixteenEach / 2);
  });
}

// A goroutine that ends hands its very stack to one that starts.
TEST_P(Order, OneStackServesAllThatRunToTheirEnd) {  // [35]
  run([] {
    std::set<std::uintptr_t> stacks;
    vole::wait_group done;
    for (int i = 0; i < 200; ++i)
      done.go([&] {
        stacks.insert(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) >> 16);
      });
    done.wait();
    EXPECT_LE(stacks.size(), 2u) << "a stack may lie across a multiple of 64 KiB";
  });
}

// Two goroutines that wait for each other: one switch for each wait, nobody in between.
TEST_P(Order, PartnersSwitchOnceAWait) {  // [35]
  run([] {
    constexpr std::uint64_t kRounds = 1000;
    const vole::chan<int> ping, pong;
    vole::wait_group done;
    done.go([=] {
      while (auto v = ping.recv()) pong.send(*v + 1);
    });
    ping.send(0);
    pong.recv();
    const std::uint64_t before = vole::stats().switches;
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      ping.send(static_cast<int>(i));
      EXPECT_EQ(pong.recv(), static_cast<int>(i) + 1);
    }
    const std::uint64_t switches = vole::stats().switches - before;
    EXPECT_GE(switches, 2 * kRounds);
    EXPECT_LE(switches, 2 * kRounds + kRounds / 10) << "a slice may end now and then";
    ping.close();
    done.wait();
  });
}

}  // namespace
