// dial, listen and resolve: what they find, what they refuse and in which words.

#include <vole/net.h>

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "net_pair.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::errc;
using vole::net::conn;
using vole::net::listener;

class NetDial : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(NetDial);

std::string what_of(auto&& call) {
  try {
    call();
  } catch (const std::system_error& e) {
    return e.what();
  }
  return "nothing";
}

std::string dial_error(const char* network, std::string at) {
  return what_of([&] { (void)vole::net::dial(network, at); });
}

// Nobody listens there: it was free a moment ago.
std::string closed_port() {
  return vole::net::listen("tcp", "127.0.0.1:0").local_address().to_string();
}

// Listens, but its queue is full: connecting takes for ever.
struct full_listener {
  full_listener() : l(vole::net::listen("tcp", "127.0.0.1:0")) {
    ::listen(l.native_handle(), 0);
    std::error_code error;
    for (int refused = 0; refused < 2;) {  // twice: one that was too late to ask tells nothing
      conn c = vole::net::dial("tcp", at(), 50ms, error);
      if (c) pending.push_back(std::move(c));
      if (!c) ++refused;
    }
  }
  std::string at() const { return l.local_address().to_string(); }
  listener l;
  std::vector<conn> pending;
};

TEST_P(NetDial, RefusedSaysSo) {
  run([] {
    const std::string at = closed_port();
    std::error_code error;
    EXPECT_FALSE(vole::net::dial("tcp", at, error));
    EXPECT_EQ(error, std::errc::connection_refused);
    EXPECT_EQ(dial_error("tcp", at), "dial tcp " + at + ": connection refused");
  });
}

TEST_P(NetDial, BadArgumentsAreNamed) {
  run([] {
    EXPECT_EQ(dial_error("tpc", "127.0.0.1:1"), "dial tpc: unknown network tpc");
    EXPECT_EQ(dial_error("tcp", "127.0.0.1"),
              "dial tcp: address 127.0.0.1: missing port in address");
    EXPECT_EQ(dial_error("tcp", "::1:80"), "dial tcp: address ::1:80: too many colons in address");
    EXPECT_EQ(dial_error("tcp", "127.0.0.1:99999"),
              "dial tcp: address 127.0.0.1:99999: invalid port");
    EXPECT_EQ(dial_error("tcp", "127.0.0.1:nosuchport"), "dial tcp: unknown port tcp/nosuchport");
    EXPECT_EQ(dial_error("tcp6", "127.0.0.1:1"),
              "dial tcp6: address 127.0.0.1: no suitable address found");
    EXPECT_EQ(dial_error("unix", std::string(200, 'x')),
              "dial unix: invalid or too long unix socket path");
    EXPECT_EQ(dial_error("unix", "/no/such/socket"),
              "dial unix /no/such/socket: no such file or directory");
    std::error_code error;
    EXPECT_FALSE(vole::net::listen("tcp", "[::1", error));
    EXPECT_EQ(error, std::errc::invalid_argument);
    EXPECT_FALSE(vole::net::listen("udp", "127.0.0.1:0", error));
    EXPECT_FALSE(vole::net::listen_packet("tcp", "127.0.0.1:0", error));
    EXPECT_EQ(error, std::errc::protocol_not_supported);
    EXPECT_FALSE(vole::net::dial("tcp", std::string("local\0host:1", 12), error));
    EXPECT_EQ(error, std::errc::invalid_argument);
  });
}

TEST_P(NetDial, TwoListenersOnOnePortAreRefused) {
  run([] {
    const listener l = vole::net::listen("tcp", "127.0.0.1:0");
    const std::string at = l.local_address().to_string();
    EXPECT_EQ(what_of([&] { (void)vole::net::listen("tcp", at); }),
              "listen tcp " + at + ": address already in use");
  });
}

TEST_P(NetDial, TimesOut) {
  run([] {
    const full_listener full;
    std::error_code error;
    EXPECT_FALSE(vole::net::dial("tcp", full.at(), 10ms, error));
    EXPECT_EQ(error, errc::deadline_exceeded);
    EXPECT_FALSE(vole::net::dial("tcp", full.at(), -1h, error));
    EXPECT_EQ(error, errc::deadline_exceeded);
    EXPECT_FALSE(vole::net::dial("tcp", full.at(), vole::duration::min(), error));
    EXPECT_EQ(error, errc::deadline_exceeded);
    const listener l = vole::net::listen("tcp", "127.0.0.1:0");
    EXPECT_TRUE(
        vole::net::dial("tcp", l.local_address().to_string(), vole::duration::max(), error));
  });
}

TEST_P(NetDial, IsCancelled) {
  run([] {
    const full_listener full;
    auto [ctx, cancel] = vole::with_cancel(vole::context::background());
    auto dialer = vole::spawn([&, ctx = ctx] {
      std::error_code error;
      EXPECT_FALSE(vole::net::dial("tcp", full.at(), ctx, error));
      return error;
    });
    vole_test::wait_until_parked(1, "IO wait");
    cancel();
    EXPECT_EQ(dialer.join(), errc::canceled);
    std::error_code error;
    EXPECT_FALSE(vole::net::dial("tcp", full.at(), ctx, error)) << "cancelled before";
    EXPECT_EQ(error, errc::canceled);
    auto [late, stop] = vole::with_timeout(vole::context::background(), 5ms);
    EXPECT_FALSE(vole::net::dial("tcp", full.at(), late, error));
    EXPECT_EQ(error, errc::deadline_exceeded);
  });
}

// A context that is cancelled later does not concern the connection.
TEST_P(NetDial, TheContextEndsWithTheDial) {
  run([] {
    listener l = vole::net::listen("tcp", "127.0.0.1:0");
    auto [ctx, cancel] = vole::with_cancel(vole::context::background());
    conn c = vole::net::dial("tcp", l.local_address().to_string(), ctx);
    conn far = l.accept();
    cancel();
    EXPECT_EQ(c.write("x"), 1u);
    EXPECT_FALSE(vole_test::read_error(far));
  });
}

// ── names ──

TEST_P(NetDial, LocalhostWorks) {
  run([] {
    for (const char* host : {"127.0.0.1", "localhost"}) {
      listener l = vole::net::listen("tcp", std::string(host) + ":0");
      const std::string port = std::to_string(l.local_address().port());
      auto echoing = vole::spawn([&l] { vole_test::echo(l.accept()); });
      conn c = vole::net::dial("tcp", "localhost:" + port);
      c.write("x");
      EXPECT_FALSE(vole_test::read_error(c));
      c.close();
      echoing.join();
    }
  });
}

TEST_P(NetDial, ResolveOrdersAndNamesPorts) {
  run([] {
    const auto literal = vole::net::resolve("tcp", "127.0.0.1:http");
    ASSERT_EQ(literal.size(), 1u);
    EXPECT_EQ(literal[0].to_string(), "127.0.0.1:80");
    const auto found = vole::net::resolve("udp", "localhost:domain");
    ASSERT_FALSE(found.empty());
    for (const auto& a : found) {
      EXPECT_EQ(a.port(), 53);
      EXPECT_EQ(a.network(), "udp");
    }
    for (const auto& a : vole::net::resolve("tcp4", "localhost:1"))
      EXPECT_EQ(a.host(), "127.0.0.1");
  });
}

TEST_P(NetDial, UnknownHostsAreErrors) {
  run([] {
    std::error_code error;
    EXPECT_TRUE(vole::net::resolve("tcp", "no such host:1", error).empty());
    EXPECT_TRUE(error == errc::no_such_host || error == errc::lookup_failed) << error.message();
    EXPECT_THROW((void)vole::net::resolve("tcp", "no such host:1"), std::system_error);
    auto [ctx, cancel] = vole::with_cancel(vole::context::background());
    cancel();
    EXPECT_TRUE(vole::net::resolve("tcp", "localhost:1", ctx, error).empty());
    EXPECT_EQ(error, errc::canceled);
  });
}

TEST_P(NetDial, FromPlainThreadsWithoutARuntime) {
  std::error_code error;
  EXPECT_FALSE(vole::net::resolve("tcp", "localhost:1").empty());
  EXPECT_FALSE(vole::net::dial("tcp", closed_port(), error));
  EXPECT_EQ(error, std::errc::connection_refused);
  const full_listener full;
  EXPECT_FALSE(vole::net::dial("tcp", full.at(), 10ms, error));
  EXPECT_EQ(error, errc::deadline_exceeded);
}

// ── both families ──

bool has_ipv6() {
  std::error_code error;
  return static_cast<bool>(vole::net::listen("tcp6", "[::1]:0", error));
}

// An empty host stands for both loopback addresses; only one of them listens.
TEST_P(NetDial, TheOtherFamilyIsTried) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 on this machine";
  const auto reach = [](const char* at) {
    listener l = vole::net::listen("tcp", at);
    conn c = vole::net::dial("tcp", ":" + std::to_string(l.local_address().port()));
    EXPECT_EQ(c.remote_address(), l.local_address());
  };
  run([&] {
    reach("127.0.0.1:0");
    reach("[::1]:0");
  });
  reach("[::1]:0");  // on a plain thread
}

// The first family answers nothing at all: the other one is tried 300 ms later, and wins.
TEST_P(NetDial, TheSilentFamilyLoses) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 on this machine";
  run([] {
    const full_listener silent;
    const std::string port = std::to_string(silent.l.local_address().port());
    std::error_code error;
    listener other = vole::net::listen("tcp", "[::1]:" + port, error);
    if (error) GTEST_SKIP() << "somebody else has that port: " << error.message();
    conn c = vole::net::dial("tcp", ":" + port, 20s);
    EXPECT_EQ(c.remote_address(), other.local_address());
  });
}

TEST_P(NetDial, BothRefuse) {
  run([] {
    const listener l = vole::net::listen("tcp", "127.0.0.1:0");
    const std::string port = std::to_string(l.local_address().port());
    l.close();
    std::error_code error;
    EXPECT_FALSE(vole::net::dial("tcp", ":" + port, error));
    EXPECT_EQ(error, std::errc::connection_refused);
  });
}

TEST_P(NetDial, AWildcardListensOnBoth) {
  run([] {
    listener l = vole::net::listen("tcp", ":0");
    const std::string port = std::to_string(l.local_address().port());
    conn four = vole::net::dial("tcp", "127.0.0.1:" + port);
    conn far = l.accept();
    EXPECT_EQ(far.remote_address(), four.local_address()) << "not ::ffff:127.0.0.1";
    EXPECT_EQ(far.local_address().to_string(), "127.0.0.1:" + port);
    if (!has_ipv6()) return;
    EXPECT_EQ(l.local_address().to_string(), "[::]:" + port);
    conn six = vole::net::dial("tcp", "[::1]:" + port);
    EXPECT_EQ(l.accept().remote_address(), six.local_address());
  });
}

}  // namespace
