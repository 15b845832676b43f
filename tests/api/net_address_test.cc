// net::address: text, order, equality, hash.

#include <vole/net.h>

#include <gtest/gtest.h>

#include <string>
#include <unordered_set>

namespace {

using vole::net::address;

TEST(NetAddress, TextComesBack) {
  for (const char* text : {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80",
                           "[::]:0", "[2001:db8::1]:443", "[fe80::1%lo]:1"})
    EXPECT_EQ(address::parse(text).to_string(), text);
  EXPECT_EQ(address::parse("[2001:DB8:0:0:0:0:0:1]:1").to_string(), "[2001:db8::1]:1");
  EXPECT_EQ(address::parse("/run/x", "unix").to_string(), "/run/x");
  EXPECT_EQ(address::parse("@x", "unixgram").network(), "unixgram");
}

TEST(NetAddress, Parts) {
  const address a = address::parse("[::1]:80", "udp");
  EXPECT_EQ(a.host(), "::1");
  EXPECT_EQ(a.port(), 80);
  EXPECT_EQ(a.network(), "udp");
  EXPECT_TRUE(a);
  const address none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.to_string(), "");
  EXPECT_EQ(none.network(), "");
  EXPECT_EQ(none.port(), 0);
}

TEST(NetAddress, MappedIPv4IsIPv4) {
  EXPECT_EQ(address::parse("[::ffff:1.2.3.4]:5"), address::parse("1.2.3.4:5"));
}

TEST(NetAddress, NonsenseIsRefused) {
  for (const char* text :
       {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1",
        "::1:80", "[::1]", "[::1:80", "[::1]]:80", "1.2.3:4", "1.2.3.4.5:6", "localhost:80",
        "[::1%]:80", "[::1%nosuchzone]:80", "1.2.3.4%lo:80", "[]:80", " 127.0.0.1:80"}) {
    std::error_code error;
    EXPECT_FALSE(address::parse(text, error)) << text;
    EXPECT_EQ(error, std::errc::invalid_argument) << text;
    EXPECT_THROW((void)address::parse(text), std::system_error) << text;
  }
  std::error_code error;
  EXPECT_FALSE(address::parse("127.0.0.1:80", "tcp6", error));
  EXPECT_FALSE(address::parse("127.0.0.1:80", "nonsense", error));
  EXPECT_FALSE(address::parse(std::string(200, 'x'), "unix", error));
  EXPECT_FALSE(address::parse(std::string("127.0.0.1\0:80", 13), error));
  EXPECT_TRUE(address::parse("127.0.0.1:80", "tcp4", error));
  EXPECT_FALSE(error);
}

TEST(NetAddress, OrderAndHash) {
  const address a = address::parse("1.2.3.4:5"), b = address::parse("1.2.3.4:6");
  EXPECT_NE(a, b);
  EXPECT_TRUE((a < b) != (b < a));
  EXPECT_NE(a, address::parse("1.2.3.4:5", "udp"));
  std::unordered_set<address> all{a, b, address::parse("1.2.3.4:5"), address()};
  EXPECT_EQ(all.size(), 3u);
}

}  // namespace
