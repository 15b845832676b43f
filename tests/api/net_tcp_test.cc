// TCP on real sockets: echo, half-close, large writes, close under waiters, plain threads.

#include <vole/net.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "net_pair.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::net::conn;
using vole::net::listener;
using vole_test::connected_pair;
using vole_test::echo;
using pair = vole_test::conn_pair;

class NetTcp : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(NetTcp);

TEST_P(NetTcp, Echo) {
  run([] {
    listener l = vole::net::listen("tcp", "127.0.0.1:0");
    auto echoing = vole::spawn([&l] { echo(l.accept()); });
    conn c = vole::net::dial("tcp", l.local_address().to_string());
    EXPECT_EQ(c.write("hello"), 5u);
    char text[5];
    EXPECT_EQ(c.read_full(text), 5u);
    EXPECT_EQ(std::string(text, 5), "hello");
    c.close_write();
    EXPECT_EQ(c.read(text), 0u);
    echoing.join();
  });
}

// A read that got less than it asked for is followed by one that does not try before it waits: the
// end that came with the data must not be waited for.
TEST_P(NetTcp, TheEndThatCameWithTheData) {
  run([] {
    for (int i = 0; i < 50; ++i) {
      pair p = connected_pair();
      if (i % 2 != 0) vole::go([&near = p.near] { near.write("abc"), near.close(); });
      if (i % 2 == 0) p.near.write("abc"), p.near.close();
      std::array<char, 64> room;
      EXPECT_EQ(p.far.read(room), 3u);
      EXPECT_EQ(p.far.read(room), 0u);
      EXPECT_EQ(p.far.read(room), 0u);
    }
  });
}

// Bytes behind urgent ones are read as well, although every read stops short at those.
TEST_P(NetTcp, WhatLiesBehindUrgentBytes) {
  run([] {
    pair p = connected_pair();
    std::array<char, 64> room;
    p.near.write("first");
    EXPECT_EQ(p.far.read(room), 5u);
    const int fd = p.near.native_handle();
    EXPECT_EQ(send(fd, "ab", 2, 0), 2);
    EXPECT_EQ(send(fd, "!", 1, MSG_OOB), 1);
    EXPECT_EQ(send(fd, "cd", 2, 0), 2);
    std::string got;
    while (got.size() < 4) got.append(room.data(), p.far.read(room));
    EXPECT_EQ(got, "abcd");
  });
}

TEST_P(NetTcp, ManyRoundTrips) {
  run([] {
    pair p = connected_pair();
    auto echoing = vole::spawn([&p] { echo(std::move(p.far)); });
    std::array<char, 64> room;
    for (std::size_t i = 0; i < 2000; ++i) {
      const std::string text(1 + i % 60, static_cast<char>('a' + i % 26));
      p.near.write(text);
      std::size_t got = 0;
      while (got < text.size()) got += p.near.read(std::span(room).subspan(got));
      ASSERT_EQ(std::string(room.data(), got), text);
    }
    p.near.close_write();
    echoing.join();
  });
}

TEST_P(NetTcp, AddressesAgree) {
  run([] {
    const pair p = connected_pair();
    EXPECT_EQ(p.near.local_address(), p.far.remote_address());
    EXPECT_EQ(p.near.remote_address(), p.far.local_address());
    EXPECT_EQ(p.near.remote_address().host(), "127.0.0.1");
    EXPECT_EQ(p.near.remote_address().network(), "tcp");
    EXPECT_NE(p.near.local_address(), p.far.local_address());
  });
}

int option(const conn& c, int level, int name) {
  int value = -1;
  socklen_t size = sizeof(value);
  EXPECT_EQ(getsockopt(c.native_handle(), level, name, &value, &size), 0);
  return value;
}

TEST_P(NetTcp, BothEndsHaveGosOptions) {
  run([] {
    const pair p = connected_pair();
    for (const conn* c : {&p.near, &p.far}) {
      EXPECT_EQ(option(*c, IPPROTO_TCP, TCP_NODELAY), 1);
      EXPECT_EQ(option(*c, SOL_SOCKET, SO_KEEPALIVE), 1);
      EXPECT_EQ(option(*c, IPPROTO_TCP, TCP_KEEPIDLE), 15);
    }
  });
}

// More than any socket buffer, to a reader that begins late and reads little at a time.
TEST_P(NetTcp, AWriteLargerThanTheBuffersIsWhole) {
  run([] {
    pair p = connected_pair();
    std::string sent(8 << 20, 'x');
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 31 >> 3);
    auto reader = vole::spawn([&] {
      vole_test::wait_until_parked(1, "IO wait");  // the writer is stuck
      std::string got;
      std::vector<char> part(50'000);
      while (const std::size_t n = p.far.read(part)) got.append(part.data(), n);
      return got;
    });
    EXPECT_EQ(p.near.write(sent), sent.size());
    p.near.close();
    EXPECT_TRUE(reader.join() == sent);
  });
}

TEST_P(NetTcp, PartsArriveAsOne) {
  run([] {
    pair p = connected_pair();
    std::vector<std::string> text;
    std::string all;
    for (int i = 0; i < 1000; ++i) {
      text.push_back(
          std::string(static_cast<std::size_t>(i * 7 % 50), static_cast<char>('a' + i % 26)));
      all += text.back();
    }
    std::vector<vole::net::const_buffer> parts;
    for (const std::string& t : text) parts.push_back(std::as_bytes(std::span(t)));
    EXPECT_EQ(p.near.write(parts), all.size());
    std::string got(all.size(), '\0');
    EXPECT_EQ(p.far.read_full(got), all.size());
    EXPECT_TRUE(got == all);
  });
}

TEST_P(NetTcp, ReadsAndWritesOfNothing) {
  run([] {
    pair p = connected_pair();
    std::array<std::byte, 0> nothing;
    EXPECT_EQ(p.near.read(nothing), 0u);
    EXPECT_EQ(p.near.read_full(nothing), 0u);
    EXPECT_EQ(p.near.write(nothing), 0u);
    EXPECT_EQ(p.near.write(""), 0u);
    EXPECT_EQ(p.near.write(std::span<const vole::net::const_buffer>()), 0u);
  });
}

// ── close ──

TEST_P(NetTcp, CloseWakesReaderWriterAndAcceptor) {
  run([] {
    pair p = connected_pair();
    listener l = vole::net::listen("tcp", "127.0.0.1:0");
    std::error_code read, write, accept;
    vole::wait_group all;
    all.go([&] {
      char c[1];
      EXPECT_EQ(p.near.read(c, read), 0u);
    });
    all.go([&] {
      const std::string much(64 << 20, 'x');
      EXPECT_LT(p.near.write(much, write), much.size());
    });
    all.go([&] { EXPECT_FALSE(l.accept(accept)); });
    vole_test::wait_until_parked(3, "IO wait");
    p.near.close();
    l.close();
    all.wait();
    EXPECT_EQ(read, vole::errc::closed);
    EXPECT_EQ(write, vole::errc::closed);
    EXPECT_EQ(accept, vole::errc::closed);
    char c[1];
    EXPECT_EQ(p.near.read(c, read), 0u);
    EXPECT_EQ(read, vole::errc::closed);
    EXPECT_EQ(p.near.native_handle(), -1);
  });
}

TEST_P(NetTcp, CloseWakesThoseWhoQueueBehindAReader) {
  run([] {
    pair p = connected_pair();
    std::atomic<int> closed{0};
    vole::wait_group all;
    for (int i = 0; i < 5; ++i)
      all.go([&] {
        char c[1];
        std::error_code error;
        EXPECT_EQ(p.near.read(c, error), 0u);
        closed += error == vole::errc::closed ? 1 : 0;
      });
    vole_test::wait_until_parked(5, "IO wait");
    p.near.close();
    all.wait();
    EXPECT_EQ(closed, 5);
  });
}

// The number must not be in use any more when close() returns.
TEST_P(NetTcp, ThePortIsFreeWhenCloseReturns) {
  run([] {
    std::string at = "127.0.0.1:0";
    for (int i = 0; i < 50; ++i) {
      listener l = vole::net::listen("tcp", at);
      at = l.local_address().to_string();
      (void)vole::net::dial("tcp", at);
      auto acceptor = vole::spawn([&l] {
        std::error_code error;
        while (l.accept(error)) {
        }
      });
      if (i % 2 == 0) vole_test::wait_until_parked(1, "IO wait");
      l.close();
      acceptor.join();
    }
  });
}

TEST_P(NetTcp, ReadersTakeTurns) {
  run([] {
    pair p = connected_pair();
    std::atomic<int> got{0};
    vole::wait_group all;
    for (int i = 0; i < 8; ++i)
      all.go([&] {
        char c[1];
        while (p.near.read(c) == 1) ++got;
      });
    for (int i = 0; i < 200; ++i) p.far.write("x");
    p.far.close_write();
    all.wait();
    EXPECT_EQ(got, 200);
  });
}

TEST_P(NetTcp, WritesAreNotMixed) {
  run([] {
    pair p = connected_pair();
    static constexpr std::size_t kSize = 300'000;
    vole::wait_group writers;
    for (char c = 'a'; c < 'e'; ++c)
      writers.go([&p, c] { EXPECT_EQ(p.near.write(std::string(kSize, c)), kSize); });
    for (int i = 0; i < 4; ++i) {
      std::string got(kSize, '\0');
      EXPECT_EQ(p.far.read_full(got), kSize);
      EXPECT_EQ(got.find_first_not_of(got[0]), std::string::npos);
    }
    writers.wait();
  });
}

TEST_P(NetTcp, AnOperationSurvivesTheMoveOfItsConn) {
  run([] {
    pair p = connected_pair();
    conn moved;
    auto reader = vole::spawn([&] {
      char c[1];
      std::error_code error;
      EXPECT_EQ(p.near.read(c, error), 0u);
      return error;
    });
    vole_test::wait_until_parked(1, "IO wait");
    moved = std::move(p.near);
    EXPECT_FALSE(p.near);
    moved = conn();
    EXPECT_EQ(reader.join(), vole::errc::closed);
  });
}

// ── errors ──

TEST_P(NetTcp, EmptyObjectsAreClosed) {
  run([] {
    conn c;
    char b[1];
    std::error_code error;
    EXPECT_FALSE(c);
    EXPECT_EQ(c.read(b, error), 0u);
    EXPECT_EQ(error, vole::errc::closed);
    EXPECT_EQ(c.write("x", error), 0u);
    EXPECT_EQ(error, vole::errc::closed);
    EXPECT_THROW((void)c.read(b), std::system_error);
    EXPECT_THROW(c.write("x"), std::system_error);
    c.close();
    c.close_write();
    c.set_deadline(vole::now());
    EXPECT_EQ(c.native_handle(), -1);
    EXPECT_EQ(c.release(), -1);
    EXPECT_FALSE(c.local_address());
    listener l;
    EXPECT_FALSE(l.accept(error));
    EXPECT_EQ(error, vole::errc::closed);
  });
}

TEST_P(NetTcp, ResetIsAnError) {
  run([] {
    pair p = connected_pair();
    const linger now{1, 0};
    ASSERT_EQ(setsockopt(p.far.native_handle(), SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
    auto reader = vole::spawn([&] {
      char c[1];
      std::error_code error;
      EXPECT_EQ(p.near.read(c, error), 0u);
      return error;
    });
    vole_test::wait_until_parked(1, "IO wait");
    p.far.close();
    EXPECT_EQ(reader.join(), std::errc::connection_reset);
  });
}

// A peer that is gone: no SIGPIPE, which would end this process.
TEST_P(NetTcp, WritingToAPeerThatIsGoneIsAnError) {
  run([] {
    pair p = connected_pair();
    p.far.close();
    std::error_code error;
    const std::string some(100'000, 'x');
    while (!error) p.near.write(some, error);
    EXPECT_TRUE(error == std::errc::broken_pipe || error == std::errc::connection_reset) << error;
    EXPECT_THROW(p.near.write(some), std::system_error);
  });
}

TEST_P(NetTcp, TheErrorSaysWhat) {
  run([] {
    pair p = connected_pair();
    p.near.close();
    const std::string expected = "read tcp " + p.near.local_address().to_string() + "->" +
                                 p.near.remote_address().to_string() + ": use of a closed object";
    try {
      char c[1];
      (void)p.near.read(c);
      FAIL();
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.what(), expected);
      EXPECT_EQ(e.code(), vole::errc::closed);
    }
  });
}

// ── who polls ──

// With every P busy nobody but sysmon looks at the network [28].
TEST_P(NetTcp, BusyProcsDoNotStarveTheNetwork) {
  run([this] {
    pair p = connected_pair();
    std::atomic<bool> read{false};
    vole::wait_group all;
    all.go([&] {
      char c[1];
      read = p.near.read(c) == 1;
    });
    vole_test::wait_until_parked(1, "IO wait");
    p.far.write("x");
    for (int i = 0; i < procs(); ++i)
      all.go([&] {
        while (!read) vole::yield();
      });
    all.wait();
  });
}

// One look at the network may find many: none of them is forgotten.
TEST_P(NetTcp, ManyWakeAtOnce) {
  run([] {
    constexpr std::size_t kPairs = 50;
    std::vector<pair> pairs;
    for (std::size_t i = 0; i < kPairs; ++i) pairs.push_back(connected_pair());
    std::atomic<std::size_t> read{0};
    vole::wait_group all;
    for (pair& p : pairs)
      all.go([&] {
        char c[1];
        while (p.near.read(c) == 1) ++read;
      });
    vole_test::wait_until_parked(kPairs, "IO wait");
    for (pair& p : pairs) p.far.write("x");
    for (pair& p : pairs) p.far.close();
    all.wait();
    EXPECT_EQ(read, kPairs);
  });
}

// ── plain threads ──

TEST_P(NetTcp, OnPlainThreadsWithoutARuntime) {
  listener l = vole::net::listen("tcp", "127.0.0.1:0");
  std::thread server([&l] { echo(l.accept()); });
  conn c = vole::net::dial("tcp", l.local_address().to_string());
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(c.write("ping"), 4u);
    char text[4];
    EXPECT_EQ(c.read_full(text), 4u);
  }
  c.close();
  server.join();
}

// A thread asleep in a read outlives the runtime that polled for it.
TEST_P(NetTcp, APlainThreadWaitsAcrossRuntimes) {
  listener l = vole::net::listen("tcp", "127.0.0.1:0");
  conn near = vole::net::dial("tcp", l.local_address().to_string());
  conn far = l.accept();
  std::atomic<bool> got{false};
  std::thread reader([&] {
    char c[1];
    got = near.read(c) == 1;
  });
  for (int i = 0; i < 20; ++i) {
    vole::run([] { vole::yield(); });
    vole::shutdown();
  }
  EXPECT_FALSE(got);
  far.write("x");
  reader.join();
  EXPECT_TRUE(got);
}

// Goroutines that the end of the runtime leaves in a read give their turn to a thread.
TEST_P(NetTcp, AThreadQueuesBehindAbandonedGoroutines) {
  listener l = vole::net::listen("tcp", "127.0.0.1:0");
  conn near = vole::net::dial("tcp", l.local_address().to_string());
  conn far = l.accept();
  std::atomic<int> reading{0};
  std::thread reader;
  std::atomic<bool> got{false};
  vole::run([&] {
    for (int i = 0; i < 3; ++i)
      vole::go([&] {
        char c[1];
        (void)near.read(c);
      });
    vole_test::wait_until_parked(3, "IO wait");
    reader = std::thread([&] {
      ++reading;
      char c[1];
      got = near.read(c) == 1;
    });
    while (reading == 0) vole::yield();
  });
  far.write("x");
  reader.join();
  EXPECT_TRUE(got);
}

TEST_P(NetTcp, ACloseFromAThreadEndsAGoroutinesRead) {
  run([] {
    pair p = connected_pair();
    auto reader = vole::spawn([&] {
      char c[1];
      std::error_code error;
      (void)p.near.read(c, error);
      return error;
    });
    vole_test::wait_until_parked(1, "IO wait");
    std::thread closer([&] { p.near.close(); });
    EXPECT_EQ(reader.join(), vole::errc::closed);
    closer.join();
  });
}

}  // namespace
