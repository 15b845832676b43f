// Deadlines of reads, writes and accepts: past, future, extended, shortened, reset.
//
// Note   a deadline may be noticed late on a busy machine, never early.

#include <vole/net.h>

#include <chrono>
#include <string>
#include <thread>

#include "fixture.h"
#include "net_pair.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::errc;
using vole::now;
using vole::time_point;
using vole_test::connected_pair;
using vole_test::read_error;
using pair = vole_test::conn_pair;

class NetDeadline : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(NetDeadline);

TEST_P(NetDeadline, PastFailsAtOnceAndStays) {
  run([] {
    pair p = connected_pair();
    p.far.write("x");
    for (const time_point t : {now(), now() - 1h, time_point{}, time_point::min()}) {
      p.near.set_read_deadline(t);
      EXPECT_EQ(read_error(p.near), errc::deadline_exceeded) << "though there is something to read";
      EXPECT_EQ(read_error(p.near), errc::deadline_exceeded);
    }
    std::error_code error;
    EXPECT_EQ(p.near.write("x", error), 1u) << "the other way has none";
    p.near.set_write_deadline(now());
    EXPECT_EQ(p.near.write("x", error), 0u);
    EXPECT_EQ(error, std::errc::timed_out);
    p.near.set_deadline(time_point::max());
    EXPECT_EQ(p.near.write("x", error), 1u);
    EXPECT_FALSE(read_error(p.near)) << "what came meanwhile is there";
  });
}

TEST_P(NetDeadline, FutureEndsTheWaitNotEarly) {
  run([] {
    pair p = connected_pair();
    for (int i = 0; i < 5; ++i) {
      const time_point due = now() + 3ms;
      p.near.set_read_deadline(due);
      EXPECT_EQ(read_error(p.near), errc::deadline_exceeded);
      EXPECT_GE(now(), due);
    }
    p.near.set_read_deadline(now() + 1h);
    p.far.write("x");
    EXPECT_FALSE(read_error(p.near));
  });
}

TEST_P(NetDeadline, EndsAWriteAndAnAccept) {
  run([] {
    pair p = connected_pair();
    const std::string much(64 << 20, 'x');
    std::error_code error;
    auto writer = vole::spawn([&] { return p.near.write(much, error); });
    vole_test::wait_until_parked(1, "IO wait");
    p.near.set_write_deadline(now() + 5ms);
    const std::size_t n = writer.join();
    EXPECT_EQ(error, errc::deadline_exceeded);
    EXPECT_GT(n, 0u);
    EXPECT_LT(n, much.size());
    vole::net::listener l = vole::net::listen("tcp", "127.0.0.1:0");
    l.set_deadline(now() + 5ms);
    EXPECT_FALSE(l.accept(error));
    EXPECT_EQ(error, errc::deadline_exceeded);
  });
}

// Set while somebody waits: what is set last counts.
TEST_P(NetDeadline, ShortenedWhileBlocked) {
  run([] {
    pair p = connected_pair();
    for (const time_point first : {time_point::max(), now() + 1h}) {
      p.near.set_read_deadline(first);
      auto reader = vole::spawn([&] { return read_error(p.near); });
      vole_test::wait_until_parked(1, "IO wait");
      p.near.set_read_deadline(now() + 2ms);
      EXPECT_EQ(reader.join(), errc::deadline_exceeded);
    }
  });
}

TEST_P(NetDeadline, PastUnblocksAtOnce) {
  run([] {
    pair p = connected_pair();
    auto reader = vole::spawn([&] { return read_error(p.near); });
    vole_test::wait_until_parked(1, "IO wait");
    p.near.set_deadline(now());
    EXPECT_EQ(reader.join(), errc::deadline_exceeded);
  });
}

TEST_P(NetDeadline, ExtendedWhileBlocked) {
  run([] {
    pair p = connected_pair();
    p.near.set_read_deadline(now() + 20ms);
    auto reader = vole::spawn([&] { return read_error(p.near); });
    const time_point due = now() + 60ms;
    for (int i = 0; i < 5; ++i) {
      p.near.set_read_deadline(due);
      vole::yield();
    }
    const std::error_code error = reader.join();
    EXPECT_EQ(error, errc::deadline_exceeded);
    if (now() < due) GTEST_SKIP() << "the machine was so busy that the first deadline came first";
  });
}

TEST_P(NetDeadline, TakenAwayWhileBlocked) {
  run([] {
    pair p = connected_pair();
    p.near.set_read_deadline(now() + 1h);
    auto reader = vole::spawn([&] { return read_error(p.near); });
    vole_test::wait_until_parked(1, "IO wait");
    p.near.set_read_deadline(time_point::max());
    p.far.write("x");
    EXPECT_FALSE(reader.join());
  });
}

TEST_P(NetDeadline, OfThousandReadsMovedEachTime) {
  run([] {
    pair p = connected_pair();
    auto echoing = vole::spawn([c = std::move(p.far)]() mutable { vole_test::echo(std::move(c)); });
    for (int i = 0; i < 1000; ++i) {
      p.near.set_deadline(now() + 1h + i * 1ms);
      EXPECT_EQ(p.near.write("x"), 1u);
      EXPECT_FALSE(read_error(p.near));
    }
    p.near.close();
    echoing.join();
  });
}

TEST_P(NetDeadline, OnAPlainThread) {
  pair p = connected_pair();
  const time_point due = now() + 5ms;
  p.near.set_read_deadline(due);
  EXPECT_EQ(read_error(p.near), errc::deadline_exceeded);
  EXPECT_GE(now(), due);
  p.near.set_read_deadline(now() + 1h);
  std::thread shorter([&] { p.near.set_read_deadline(now() + 5ms); });
  EXPECT_EQ(read_error(p.near), errc::deadline_exceeded);
  shorter.join();
}

// The runtime takes its timers with it; the deadline is kept all the same.
TEST_P(NetDeadline, SurvivesTheRuntime) {
  pair p = connected_pair();
  p.near.set_read_deadline(now() + 30ms);
  std::error_code error;
  std::thread reader([&] { error = read_error(p.near); });
  for (int i = 0; i < 5; ++i) {
    vole::run([] { vole::yield(); });
    vole::shutdown();
  }
  reader.join();
  EXPECT_EQ(error, errc::deadline_exceeded);
}

TEST_P(NetDeadline, AbandonedWithTheRuntimeThenUsedAgain) {
  pair p = connected_pair();
  vole::run([&] {
    p.near.set_read_deadline(now() + 1h);
    vole::go([&] { (void)read_error(p.near); });
    vole_test::wait_until_parked(1, "IO wait");
  });
  p.near.set_read_deadline(now() + 2ms);
  vole::run([&] { EXPECT_EQ(read_error(p.near), errc::deadline_exceeded); });
  p.near.set_read_deadline(now() + 1h);
  vole::run([&] {
    p.far.write("x");
    EXPECT_FALSE(read_error(p.near));
  });
}

}  // namespace
