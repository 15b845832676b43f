// Datagrams and unix sockets.

#include <vole/net.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>

#include "fixture.h"
#include "net_pair.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::errc;
using vole::net::address;
using vole::net::conn;
using vole::net::listener;
using vole::net::packet_conn;

class NetPacket : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(NetPacket);

// A path of this process and test, free again at the end.
class scratch_path {
 public:
  explicit scratch_path(const char* name)
      : text_((std::filesystem::temp_directory_path() /
               ("vole_" + std::to_string(getpid()) + "_" + name))
                  .string()) {
    unlink(text_.c_str());
  }
  ~scratch_path() { unlink(text_.c_str()); }
  operator std::string_view() const { return text_; }
  const char* c_str() const { return text_.c_str(); }
  bool exists() const { return std::filesystem::exists(text_); }

 private:
  std::string text_;
};

TEST_P(NetPacket, DatagramsKeepTheirBordersAndSenders) {
  run([] {
    packet_conn a = vole::net::listen_packet("udp", "127.0.0.1:0");
    packet_conn b = vole::net::listen_packet("udp", "127.0.0.1:0");
    char text[16];
    for (const char* s : {"one", "", "three"}) {
      EXPECT_EQ(a.write_to(s, b.local_address()), std::string(s).size());
      const auto [n, from] = b.read_from(text);
      EXPECT_EQ(std::string(text, n), s);
      EXPECT_EQ(from, a.local_address());
      EXPECT_EQ(from.network(), "udp");
    }
    EXPECT_EQ(a.write_to("longer than the buffer", b.local_address()), 22u);
    EXPECT_EQ(b.read_from(text).first, 16u) << "the rest is lost";
  });
}

TEST_P(NetPacket, ReadWaitsAndCloseWakes) {
  run([] {
    packet_conn a = vole::net::listen_packet("udp", "127.0.0.1:0");
    packet_conn b = vole::net::listen_packet("udp", "127.0.0.1:0");
    auto reader = vole::spawn([&] {
      char text[16];
      std::error_code error;
      const std::size_t first = b.read_from(text, error).first;
      EXPECT_EQ(b.read_from(text, error).first, 0u);
      EXPECT_EQ(error, errc::closed);
      return first;
    });
    vole_test::wait_until_parked(1, "IO wait");
    a.write_to("hello", b.local_address());
    vole_test::wait_until_parked(1, "IO wait");
    b.close();
    EXPECT_LE(reader.join(), 5u);
    a.set_read_deadline(vole::now() + 2ms);
    char text[1];
    std::error_code error;
    (void)a.read_from(text, error);
    EXPECT_EQ(error, errc::deadline_exceeded);
  });
}

TEST_P(NetPacket, BadTargetsAreErrors) {
  run([] {
    packet_conn a = vole::net::listen_packet("udp", "127.0.0.1:0");
    std::error_code error;
    EXPECT_EQ(a.write_to("x", address(), error), 0u);
    EXPECT_EQ(error, std::errc::destination_address_required);
    EXPECT_EQ(a.write_to("x", address::parse("[::1]:1", "udp"), error), 0u);
    EXPECT_EQ(error, std::errc::address_family_not_supported);
    EXPECT_THROW(a.write_to(std::string(70'000, 'x'), a.local_address()), std::system_error);
  });
}

TEST_P(NetPacket, AConnectedDatagramSocket) {
  run([] {
    packet_conn server = vole::net::listen_packet("udp", "127.0.0.1:0");
    conn client = vole::net::dial("udp", server.local_address().to_string());
    EXPECT_EQ(client.write("ping"), 4u);
    char text[16];
    const auto [n, from] = server.read_from(text);
    EXPECT_EQ(n, 4u);
    EXPECT_EQ(from, client.local_address());
    server.write_to("pong", from);
    EXPECT_EQ(client.read(text), 4u);
    const vole::net::const_buffer parts[] = {std::as_bytes(std::span("ab", 2)),
                                             std::as_bytes(std::span("cd", 2))};
    EXPECT_EQ(client.write(parts), 4u);
    EXPECT_EQ(server.read_from(text).first, 4u) << "one datagram";
  });
}

// A wildcard socket speaks to both families.
TEST_P(NetPacket, AWildcardReachesIPv4) {
  run([] {
    packet_conn any = vole::net::listen_packet("udp", ":0");
    packet_conn four = vole::net::listen_packet("udp4", "127.0.0.1:0");
    EXPECT_EQ(any.write_to("x", four.local_address()), 1u);
    char text[4];
    const auto [n, from] = four.read_from(text);
    EXPECT_EQ(from.host(), "127.0.0.1");
    four.write_to("y", from);
    EXPECT_EQ(any.read_from(text).second, four.local_address());
  });
}

// ── unix ──

TEST_P(NetPacket, UnixStreamEchoesAndRemovesItsFile) {
  run([] {
    const scratch_path path("stream");
    {
      listener l = vole::net::listen("unix", path);
      EXPECT_TRUE(path.exists());
      EXPECT_EQ(l.local_address().to_string(), std::string_view(path));
      auto server = vole::spawn([&] { vole_test::echo(l.accept()); });
      conn c = vole::net::dial("unix", path);
      EXPECT_EQ(c.remote_address(), l.local_address());
      EXPECT_EQ(c.write("hello"), 5u);
      char text[5];
      EXPECT_EQ(c.read_full(text), 5u);
      c.close();
      server.join();
      std::error_code error;
      EXPECT_FALSE(vole::net::listen("unix", path, error));
      EXPECT_EQ(error, std::errc::address_in_use);
    }
    EXPECT_FALSE(path.exists());
    std::error_code error;
    EXPECT_FALSE(vole::net::dial("unix", path, error));
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  });
}

TEST_P(NetPacket, AbstractUnixSocketsHaveNoFile) {
  run([] {
    const std::string name = "@vole_" + std::to_string(getpid());
    listener l = vole::net::listen("unix", name);
    EXPECT_EQ(l.local_address().to_string(), name);
    conn c = vole::net::dial("unix", name);
    conn far = l.accept();
    EXPECT_EQ(far.write("x"), 1u);
    EXPECT_FALSE(vole_test::read_error(c));
    EXPECT_FALSE(std::filesystem::exists(name));
  });
}

TEST_P(NetPacket, UnixDatagramsAndPackets) {
  run([] {
    const scratch_path at("gram"), other("gram2");
    packet_conn server = vole::net::listen_packet("unixgram", at);
    packet_conn peer = vole::net::listen_packet("unixgram", other);
    EXPECT_EQ(peer.write_to("hello", server.local_address()), 5u);
    char text[16];
    const auto [n, from] = server.read_from(text);
    EXPECT_EQ(n, 5u);
    EXPECT_EQ(from.to_string(), std::string_view(other));
    conn client = vole::net::dial("unixgram", at);
    EXPECT_EQ(client.write("anonymous"), 9u);
    EXPECT_EQ(server.read_from(text).second.to_string(), "");

    const scratch_path packets("packet");
    listener l = vole::net::listen("unixpacket", packets);
    conn near = vole::net::dial("unixpacket", packets);
    conn far = l.accept();
    EXPECT_EQ(near.write("one"), 3u);
    EXPECT_EQ(near.write("two!"), 4u);
    EXPECT_EQ(far.read(text), 3u);
    EXPECT_EQ(far.read(text), 4u);
  });
}

// More dials than the listener's queue holds: the kernel says "try again", and has no event for it.
TEST_P(NetPacket, ABusyUnixListenerIsWaitedFor) {
  run([] {
    const scratch_path path("busy");
    listener l = vole::net::listen("unix", path);
    ::listen(l.native_handle(), 1);
    constexpr int kDials = 20;
    vole::wait_group dials;
    for (int i = 0; i < kDials; ++i) dials.go([&] { EXPECT_TRUE(vole::net::dial("unix", path)); });
    for (int i = 0; i < kDials; ++i) EXPECT_TRUE(l.accept());
    dials.wait();
  });
}

TEST_P(NetPacket, OneThatWasAdoptedConnectedKnowsItsPeer) {
  run([] {
    packet_conn server = vole::net::listen_packet("udp", "127.0.0.1:0");
    EXPECT_FALSE(server.remote_address());
    conn client = vole::net::dial("udp", server.local_address().to_string());
    const packet_conn adopted(client.release());
    EXPECT_EQ(adopted.remote_address(), server.local_address());
    EXPECT_FALSE(packet_conn().remote_address());
  });
}

}  // namespace
