#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <ctime>
#include <thread>

#include "base/system.h"
#include "os/os.h"

namespace vole::base {
namespace {

TEST(Futex, OtherValueReturnsAtOnce) {
  atomic<std::uint32_t> word{1};
  futex_wait(&word, 0);
  EXPECT_TRUE(futex_wait_for(&word, 0, INT64_MAX));
}

TEST(Futex, TimeoutIsReportedAndNotEarly) {
  atomic<std::uint32_t> word{0};
  const std::int64_t begin = os::now_ns();
  EXPECT_FALSE(futex_wait_for(&word, 0, 3'000'000));
  EXPECT_GE(os::now_ns() - begin, 3'000'000);
  EXPECT_FALSE(futex_wait_for(&word, 0, 0));
  EXPECT_FALSE(futex_wait_for(&word, 0, -1));
}

TEST(Futex, WakeEndsAWait) {
  atomic<std::uint32_t> word{0};
  std::thread waker([&] {
    word.store(1, std::memory_order_release);
    futex_wake(&word, 1);
  });
  while (word.load(std::memory_order_acquire) == 0) futex_wait(&word, 0);
  waker.join();
}

TEST(Futex, StrayWakesDoNotEndATimedWait) {
  atomic<std::uint32_t> word{0}, done{0};
  std::thread stray([&] {
    while (done.load() == 0) futex_wake(&word, 1);
  });
  const std::int64_t begin = os::now_ns();
  EXPECT_FALSE(futex_wait_for(&word, 0, 5'000'000));
  EXPECT_GE(os::now_ns() - begin, 5'000'000);
  done.store(1);
  stray.join();
}

constinit atomic<int> signals{0};

// The timer interrupts the wait every millisecond: restarted from the full time it would not end.
TEST(Futex, SignalsNeitherEndNorProlongATimedWait) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { signals.fetch_add(1); };
  sigaction(SIGALRM, &action, &before);
  timer_t timer{};
  ASSERT_EQ(timer_create(CLOCK_MONOTONIC, nullptr, &timer), 0);
  const itimerspec every{{0, 1'000'000}, {0, 1'000'000}};
  timer_settime(timer, 0, &every, nullptr);
  atomic<std::uint32_t> word{0};
  const std::int64_t begin = os::now_ns();
  EXPECT_FALSE(futex_wait_for(&word, 0, 20'000'000));
  EXPECT_GE(os::now_ns() - begin, 20'000'000);
  timer_delete(timer);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_GT(signals.load(), 0);
}

}  // namespace
}  // namespace vole::base
