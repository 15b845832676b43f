#include "base/note.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace vole::base {
namespace {

TEST(Note, PingPongBetweenTwoThreads) {  // [20]
  note ping, pong;
  long value = 0;
  constexpr int kRounds = 20'000;
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      ping.sleep();
      ping.clear();
      ++value;
      pong.wake();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    ++value;
    ping.wake();
    pong.sleep();
    pong.clear();
  }
  other.join();
  EXPECT_EQ(value, 2 * kRounds);
}

TEST(Note, SleepForEndsByItselfAndByAWake) {
  note n;
  EXPECT_FALSE(n.sleep_for(0));
  EXPECT_FALSE(n.sleep_for(-5));
  EXPECT_FALSE(n.sleep_for(2'000'000));
  std::thread waker([&] { n.wake(); });
  EXPECT_TRUE(n.sleep_for(INT64_MAX));
  waker.join();
  EXPECT_TRUE(n.sleep_for(0));
}

TEST(NoteDeathTest, WokenTwiceIsFatal) {  // [20]
  EXPECT_EXIT(
      {
        note n;
        n.wake();
        n.wake();
      },
      testing::KilledBySignal(SIGABRT), "note: woken twice");
}

}  // namespace
}  // namespace vole::base
