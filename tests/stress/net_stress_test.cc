// The network against everything that may come at the same moment: deadlines, closes, moves, other
// readers and writers, the end of the runtime; and ten thousand connections at once.
//
// Note   whatever happens, an operation ends, and no byte of a connection that was left alone is
//        lost, doubled or out of place.

#include <vole/vole.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../api/net_pair.h"
#include "stress.h"

namespace {

using namespace std::chrono_literals;
using vole::net::conn;
using vole::net::listener;
using vole_test::conn_pair;
using vole_test::connected_pair;
using vole_test::dice;

VOLE_STRESS(NetStress);

// Byte i of a stream.
char byte_at(std::uint64_t stream, std::uint64_t i) {
  return static_cast<char>((i * 0x9e3779b97f4a7c15u + stream) >> 56);
}

void write_stream(conn& c, dice d, std::uint64_t stream, std::uint64_t total) {
  std::string part;
  for (std::uint64_t at = 0; at < total;) {
    part.resize(1 + d.below(static_cast<std::uint32_t>(std::min<std::uint64_t>(total - at, 9000))));
    for (std::size_t k = 0; k < part.size(); ++k) part[k] = byte_at(stream, at + k);
    ASSERT_EQ(c.write(part), part.size());
    at += part.size();
  }
}

void read_stream(conn& c, dice d, std::uint64_t stream, std::uint64_t total) {
  std::vector<char> part(9000);
  for (std::uint64_t at = 0; at < total;) {
    const std::size_t n = c.read(std::span(part).first(1 + d.below(8999)));
    ASSERT_GT(n, 0u) << "the end after " << at << " of " << total << " bytes";
    for (std::size_t k = 0; k < n; ++k) ASSERT_EQ(part[k], byte_at(stream, at + k)) << at + k;
    at += n;
  }
}

// Raises the limit; how many connections there is room for, one descriptor each.
int room_for(int wanted) {
  rlimit r{};
  getrlimit(RLIMIT_NOFILE, &r);
  const auto needed = static_cast<rlim_t>(wanted + 200);
  if (r.rlim_cur < needed) {
    r.rlim_cur = r.rlim_max < needed ? r.rlim_max : needed;
    setrlimit(RLIMIT_NOFILE, &r);
  }
  return r.rlim_cur < needed ? static_cast<int>(r.rlim_cur) - 200 : wanted;
}

constexpr int kConnections = vole_test::kSanitized ? 1000 : 10'000;
constexpr char kPortPipe[] = "VOLE_NET_STRESS_PORT_PIPE";

// The other end of the ten thousand: this test again, in a process of its own, since each end needs
// a descriptor. Says where it listens, and serves that many.
TEST(NetStressServer, RunsInAProcessOfItsOwn) {
  const char* const pipe = std::getenv(kPortPipe);
  if (pipe == nullptr) GTEST_SKIP() << "started by another test";
  room_for(kConnections);
  vole::run([pipe] {
    listener l = vole::net::listen("tcp", "127.0.0.1:0");
    conn(std::atoi(pipe)).write(l.local_address().to_string());
    vole::wait_group servers;
    for (int i = 0; i < kConnections; ++i)
      servers.go([c = l.accept()]() mutable { vole_test::echo(std::move(c)); });
    servers.wait();
  });
}

struct server_process {
  server_process() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const std::string setting = kPortPipe + ("=" + std::to_string(ends[1]));
    const char* const arguments[] = {"server", "--gtest_filter=NetStressServer.*", nullptr};
    const char* const environment[] = {setting.c_str(), nullptr};
    id = fork();
    if (id == 0) {
      execve("/proc/self/exe", const_cast<char* const*>(arguments),
             const_cast<char* const*>(environment));
      _exit(127);
    }
    close(ends[1]);
    char text[64];
    const ssize_t n = read(ends[0], text, sizeof(text));
    close(ends[0]);
    if (n > 0) at.assign(text, static_cast<std::size_t>(n));
  }
  // True: it served them all.
  bool wait() const {
    int status = -1;
    waitpid(id, &status, 0);
    return status == 0;
  }
  pid_t id;
  std::string at;
};

void echo_stream(conn& c, std::uint64_t stream) {
  dice d(stream);
  const std::uint64_t total = 1 + d.below(3000);
  write_stream(c, dice(d.fork()), stream, total);
  c.close_write();
  read_stream(c, dice(d.fork()), stream, total);
  char end[1];
  EXPECT_EQ(c.read(end), 0u);
}

// All are open before the first byte flows.
TEST_P(NetStress, TenThousandConnectionsEchoEveryByte) {
  if (procs() != 2) GTEST_SKIP() << "once is enough";
  if (const int room = room_for(kConnections); room < kConnections)
    GTEST_SKIP() << "the hard limit of open files leaves room for " << room << " connections";
  const server_process server;
  ASSERT_FALSE(server.at.empty());
  vole::run([&server] {
    vole::wait_group clients, dialled;
    dialled.add(kConnections);
    vole::semaphore dialling(200);
    for (int i = 0; i < kConnections; ++i)
      clients.go([&, i] {
        dialling.acquire();
        conn c = vole::net::dial("tcp", server.at);
        dialling.release();
        dialled.done();
        dialled.wait();
        echo_stream(c, static_cast<std::uint64_t>(i));
      });
    clients.wait();
  });
  EXPECT_TRUE(server.wait());
}

// Both ways at once, with readers and writers on goroutines and plain threads.
TEST_P(NetStress, StreamsArriveWhole) {
  constexpr std::uint64_t kTotal = vole_test::kSanitized ? 200'000 : 1'000'000;
  vole::run([] {
    vole::wait_group all;
    std::vector<conn_pair> pairs;
    for (int i = 0; i < 4; ++i) pairs.push_back(connected_pair());
    for (std::uint64_t i = 0; i < pairs.size(); ++i) {
      conn_pair& p = pairs[i];
      all.go([&p, i] { write_stream(p.near, dice(i), 2 * i, kTotal); });
      all.go([&p, i] { read_stream(p.far, dice(10 + i), 2 * i, kTotal); });
      all.go([&p, i] { write_stream(p.far, dice(20 + i), 2 * i + 1, kTotal); });
      all.go([&p, i] { read_stream(p.near, dice(30 + i), 2 * i + 1, kTotal); });
    }
    all.wait();
  });
  conn_pair p = connected_pair();
  std::thread writer([&p] { write_stream(p.near, dice(99), 7, kTotal); });
  std::thread reader([&p] { read_stream(p.far, dice(98), 7, kTotal); });
  writer.join();
  reader.join();
}

// ── races ──

void set_any_deadline(const conn& c, dice& d) {
  const auto soon = vole::now() + vole::duration(d.below(300'000)) - 100us;
  switch (d.below(4)) {
    case 0: return c.set_deadline(soon);
    case 1: return c.set_read_deadline(soon);
    case 2: return c.set_write_deadline(vole::now() + 1h);
    default: return c.set_deadline(vole::time_point::max());
  }
}

bool may_happen(const std::error_code& e) {
  return !e || e == vole::errc::closed || e == vole::errc::deadline_exceeded ||
         e == std::errc::connection_reset || e == std::errc::broken_pipe;
}

void use_somehow(conn& c, dice d, const std::atomic<bool>& over) {
  std::array<char, 20'000> text{};  // not on the heap: this goroutine may be abandoned
  while (!over) {
    std::error_code error;
    switch (d.below(5)) {
      case 0:
      case 1: (void)c.read(std::span(text).first(1 + d.below(5000)), error); break;
      case 2:
      case 3: c.write(std::string_view(text.data(), 1 + d.below(19'000)), error); break;
      default: set_any_deadline(c, d);
    }
    EXPECT_TRUE(may_happen(error)) << error.message();
    if (error == vole::errc::closed) return;
    if (d.below(8) == 0) vole::yield();
  }
}

// Nobody may hang: each round ends with both sides closed in the middle of everything.
TEST_P(NetStress, CloseAmongDeadlinesReadersAndWriters) {
  const vole_test::time_limit limit;
  std::uint64_t stream = 0;
  do {
    vole::run([&] {
      for (int round = 0; round < 20; ++round) {
        conn_pair p = connected_pair();
        std::atomic<bool> over{false};
        vole::wait_group users;
        for (conn* const c : {&p.near, &p.far})
          for (int i = 0; i < 3; ++i)
            users.go([c, &over, d = dice(++stream)] { use_somehow(*c, d, over); });
        std::thread plain([&, d = dice(++stream)] { use_somehow(p.near, d, over); });
        dice d(++stream);
        vole::sleep_for(vole::duration(d.below(500'000)));
        over = d.below(4) == 0;
        p.near.close();
        p.far.close();
        users.wait();
        plain.join();
      }
    });
  } while (!limit.over());
}

// Goroutines are abandoned anywhere in an operation; what plain threads hold afterwards works.
struct scene {
  conn_pair p = connected_pair();
  std::atomic<bool> over{false};
};

TEST_P(NetStress, TheRuntimeEndsInTheMiddle) {
  const vole_test::time_limit limit;
  std::uint64_t stream = 1000;
  do {
    auto s = std::make_unique<scene>();
    const int zombies = vole::stats().zombie_threads;
    std::thread plain([&, d = dice(++stream)] { use_somehow(s->p.near, d, s->over); });
    vole::run([&, all = s.get()] {
      for (int i = 0; i < 4; ++i)
        for (conn* const c : {&all->p.near, &all->p.far})
          vole::go([c, all, d = dice(++stream)] { use_somehow(*c, d, all->over); });
      vole::sleep_for(vole::duration(dice(++stream).below(1'000'000)));
    });
    s->over = true;
    s->p.far.close();
    s->p.near.close();
    plain.join();
    if (vole::stats().zombie_threads != zombies) (void)s.release();  // one may still look at it
  } while (!limit.over());
  vole::shutdown();  // the plain thread may have started one
  allow_zombies();
}

// Dials that win, lose and are cancelled at the same moment.
TEST_P(NetStress, DialsAgainstCancellation) {
  const vole_test::time_limit limit(300ms);
  vole::run([&] {
    listener l = vole::net::listen("tcp", "127.0.0.1:0");
    const std::string at = l.local_address().to_string();
    auto acceptor = vole::spawn([&] {
      std::error_code error;
      while (l.accept(error)) {
      }
    });
    vole::wait_group dialers;
    for (std::uint64_t i = 0; i < 4; ++i)
      dialers.go([&, d = dice(i)]() mutable {
        while (!limit.over()) {
          auto [ctx, cancel] = vole::with_cancel(vole::context::background());
          auto canceller = vole::spawn([&stop = cancel, wait = d.below(3)] {
            if (wait != 0) vole::sleep_for(vole::duration(wait * 20'000));
            stop();
          });
          std::error_code error;
          conn c = vole::net::dial("tcp", at, ctx, error);
          EXPECT_TRUE(c || error == vole::errc::canceled) << error.message();
          canceller.join();
          if (c) {
            EXPECT_EQ(c.write("x"), 1u);
          }
        }
      });
    dialers.wait();
    l.close();
    acceptor.join();
  });
}

}  // namespace
