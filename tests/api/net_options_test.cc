// dial_options, listen_options, adopted sockets, and addresses as text.

#include <vole/net.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <string>

#include "fixture.h"
#include "net_pair.h"

namespace {

using namespace std::chrono_literals;
using vole::net::conn;
using vole::net::listener;

class NetOptions : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(NetOptions);

int option(const vole::detail::net_handle& h, int level, int name) {
  int value = -1;
  socklen_t size = sizeof(value);
  EXPECT_EQ(getsockopt(h.native_handle(), level, name, &value, &size), 0);
  return value;
}
linger linger_of(const conn& c) {
  linger l{};
  socklen_t size = sizeof(l);
  EXPECT_EQ(getsockopt(c.native_handle(), SOL_SOCKET, SO_LINGER, &l, &size), 0);
  return l;
}

TEST_P(NetOptions, DialDoesWhatItIsTold) {
  run([] {
    listener l = vole::net::listen("tcp", "127.0.0.1:0");
    const std::string at = l.local_address().to_string();
    conn plain = vole::net::dial("tcp", at, {.timeout = 5s});
    EXPECT_NE(option(plain, IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_EQ(option(plain, IPPROTO_TCP, TCP_KEEPIDLE), 15);
    EXPECT_EQ(linger_of(plain).l_onoff, 0);
    int asked = 0;
    conn c = vole::net::dial("tcp", at,
                             {.timeout = 2.5s,
                              .local = vole::net::address::parse("127.0.0.2:0"),
                              .keep_alive = 90s,
                              .no_delay = false,
                              .linger = 2.5s,
                              .send_buffer = 20'000,
                              .control = [&asked](int fd) { asked += fd >= 0 ? 1 : 0; }});
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(c.local_address().host(), "127.0.0.2");
    EXPECT_EQ(option(c, IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_EQ(option(c, IPPROTO_TCP, TCP_KEEPIDLE), 90);
    EXPECT_EQ(option(c, SOL_SOCKET, SO_SNDBUF), 40'000) << "the kernel doubles it";
    EXPECT_EQ(linger_of(c).l_onoff, 1);
    EXPECT_EQ(linger_of(c).l_linger, 3);
    conn none = vole::net::dial("tcp", at, {.keep_alive = 0s});
    EXPECT_EQ(option(none, SOL_SOCKET, SO_KEEPALIVE), 0);
  });
}

TEST_P(NetOptions, DialIsCancelledAndRefused) {
  run([] {
    listener l = vole::net::listen("tcp", "127.0.0.1:0");
    const std::string at = l.local_address().to_string();
    auto [ctx, cancel] = vole::with_cancel(vole::context::background());
    EXPECT_TRUE(vole::net::dial("tcp", at, {.ctx = ctx}));
    cancel();
    std::error_code error;
    EXPECT_FALSE(vole::net::dial("tcp", at, {.ctx = ctx}, error));
    EXPECT_EQ(error, vole::errc::canceled);
    EXPECT_FALSE(
        vole::net::dial("tcp", at, {.local = vole::net::address::parse("[::1]:0")}, error));
    EXPECT_TRUE(error);
    EXPECT_FALSE(vole::net::dial("tcp", at, {.timeout = -1s}, error));
    EXPECT_EQ(error, vole::errc::deadline_exceeded);
  });
}

// What the callback throws leaves dial and listen, and nothing is left open (the fixture counts).
TEST_P(NetOptions, WhatControlThrowsLeavesTheCall) {
  const auto refuse = [](int) { throw std::runtime_error("not this one"); };
  run([&] {
    listener l = vole::net::listen("tcp", "127.0.0.1:0");
    const std::string at = l.local_address().to_string();
    const std::string port = ":" + std::to_string(l.local_address().port());
    EXPECT_THROW((void)vole::net::dial("tcp", at, {.control = refuse}), std::runtime_error);
    EXPECT_THROW((void)vole::net::dial("tcp", port, {.control = refuse}), std::runtime_error);
    EXPECT_THROW((void)vole::net::listen("tcp", "127.0.0.1:0", {.control = refuse}),
                 std::runtime_error);
    EXPECT_THROW((void)vole::net::listen_packet("udp", "127.0.0.1:0", {.control = refuse}),
                 std::runtime_error);
    // A local of the goroutine's, made in the middle of the library's work.
    static vole::local<int> mine;
    conn c = vole::net::dial("tcp", at, {.control = [](int fd) { *mine = fd; }});
    EXPECT_EQ(*mine, c.native_handle());
  });
}

TEST_P(NetOptions, ListenDoesWhatItIsTold) {
  run([] {
    int asked = 0;
    listener one = vole::net::listen(
        "tcp", "127.0.0.1:0",
        {.backlog = 7, .reuse_port = true, .keep_alive = 33s, .control = [&](int) { ++asked; }});
    EXPECT_EQ(asked, 1);
    const std::string at = one.local_address().to_string();
    listener two = vole::net::listen("tcp", at, {.reuse_port = true});
    std::error_code error;
    EXPECT_FALSE(vole::net::listen("tcp", at, error));
    EXPECT_EQ(error, std::errc::address_in_use);
    two.close();
    conn c = vole::net::dial("tcp", at);
    conn far = one.accept();
    EXPECT_EQ(option(far, IPPROTO_TCP, TCP_KEEPIDLE), 33) << "inherited";
    auto packets =
        vole::net::listen_packet("udp", "127.0.0.1:0", {.receive_buffer = 10'000}, error);
    EXPECT_EQ(option(packets, SOL_SOCKET, SO_RCVBUF), 20'000);
  });
}

// ── adopted ──

TEST_P(NetOptions, SocketsAreAdopted) {
  run([] {
    listener made = vole::net::listen("tcp", "127.0.0.1:0");
    const auto at = made.local_address();
    listener l(made.release());
    EXPECT_EQ(l.local_address(), at);
    conn c = vole::net::dial("tcp", at.to_string());
    conn far = l.accept();
    EXPECT_EQ(far.remote_address(), c.local_address());
    vole::net::packet_conn p(vole::net::listen_packet("udp", "127.0.0.1:0").release());
    p.write_to("x", p.local_address());
    char one[1];
    EXPECT_EQ(p.read_from(one).first, 1u);
  });
}

TEST_P(NetOptions, WhatDoesNotListenIsRefusedAndStaysTheCallers) {
  run([] {
    auto pair = vole_test::connected_pair();
    const int fd = pair.near.native_handle();
    std::error_code error;
    EXPECT_FALSE(listener(fd, error));
    EXPECT_EQ(error, std::errc::invalid_argument);
    EXPECT_FALSE(vole::net::packet_conn(fd, error));
    EXPECT_EQ(error, std::errc::invalid_argument);
    try {
      listener l(fd);
      ADD_FAILURE() << "a connection does not listen";
    } catch (const std::system_error& e) {
      EXPECT_STREQ(e.what(), "adopt a file descriptor: it is not a socket that listens");
    }
    try {
      vole::net::packet_conn p(fd);
      ADD_FAILURE() << "a stream has no datagrams";
    } catch (const std::system_error& e) {
      EXPECT_STREQ(e.what(), "adopt a file descriptor: it is not a socket of datagrams");
    }
    EXPECT_FALSE(listener(-1, error));
    EXPECT_EQ(error, std::errc::bad_file_descriptor);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    EXPECT_FALSE(listener(ends[0], error));
    EXPECT_EQ(error, std::errc::not_a_socket);
    ::close(ends[0]);
    ::close(ends[1]);
    EXPECT_EQ(pair.near.write("x"), 1u) << "still open";
  });
}

// ── addresses ──

TEST_P(NetOptions, AddressesAreText) {
  const auto a = vole::net::address::parse("127.0.0.1:80");
  std::ostringstream out;
  out << a << ' ' << vole::net::address::parse("[::1]:1");
  EXPECT_EQ(out.str(), "127.0.0.1:80 [::1]:1");
  EXPECT_LT(a, vole::net::address::parse("127.0.0.1:81"));
#ifdef __cpp_lib_format
  EXPECT_EQ(std::format("{:>14}", a), "  127.0.0.1:80");
#endif
}

}  // namespace
