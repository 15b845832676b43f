// What can be read into and written from: any contiguous range of bytes, and no NUL of a literal.

#include <vole/net.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fixture.h"

namespace {

using vole::net::byte_buffer;
using vole::net::byte_sequence;
using vole::net::conn;

class NetBytes : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(NetBytes);

static_assert(byte_buffer<std::vector<char>&> && byte_buffer<std::array<unsigned char, 4>&>);
static_assert(byte_buffer<std::string&> && byte_buffer<std::byte (&)[8]>);
static_assert(!byte_buffer<const std::vector<char>&> && !byte_buffer<std::vector<int>&>);
static_assert(!byte_buffer<std::string_view&> && !byte_buffer<std::vector<bool>&>);
static_assert(byte_sequence<const std::string&> && byte_sequence<std::vector<std::byte>>);
static_assert(!byte_sequence<const char (&)[6]>, "text goes by string_view");

std::string all_of(conn& c, std::size_t n) {
  std::string got(n, '\0');
  EXPECT_EQ(c.read_full(got), n);
  return got;
}

TEST_P(NetBytes, WritesAnyRange) {
  run([] {
    auto [near, far] = vole::net::pipe();
    const auto sends = [&to = far](std::size_t n, std::string_view what) {
      EXPECT_EQ(n, what.size());
      EXPECT_EQ(all_of(to, what.size()), what);
    };
    std::error_code error;
    const vole::context ctx;
    sends(near.write("literal"), "literal");
    sends(near.write(std::string("string")), "string");
    sends(near.write(std::string_view("a\0b", 3), error), std::string_view("a\0b", 3));
    sends(near.write(std::vector<char>{'v', 'c'}), "vc");
    sends(near.write(std::vector<unsigned char>{'u', 'c'}, error), "uc");
    sends(near.write(std::array<std::byte, 2>{std::byte{'b'}, std::byte{'y'}}, ctx), "by");
    const unsigned char raw[] = {'r', 'a', 'w'};
    sends(near.write(raw, ctx, error), "raw");
    sends(near.write({raw, 2}), "ra");
    const char text[] = {'t', 'e', 'x', 't', '\0'};
    sends(near.write(text), "text");
    sends(near.write({text, 2}, error), "te");
    sends(near.write(std::span(text).first<3>()), "tex");
    const char* const pointer = "pointer";
    sends(near.write(pointer), "pointer");
    std::span<const std::byte> parts[] = {std::as_bytes(std::span("ab", 2)),
                                          std::as_bytes(std::span("cd", 2))};
    sends(near.write(parts), "abcd");
    EXPECT_FALSE(error);
  });
}

TEST_P(NetBytes, ReadsIntoAnyRange) {
  run([] {
    auto [near, far] = vole::net::pipe();
    std::error_code error;
    const vole::context ctx;
    near.write("0123456789012345678901234567890123456789");
    std::vector<unsigned char> v(4);
    EXPECT_EQ(far.read_full(v), 4u);
    EXPECT_EQ(v.back(), '3');
    std::array<char, 3> a{};
    EXPECT_EQ(far.read_full(a, error), 3u);
    std::byte b[2];
    EXPECT_EQ(far.read_full(b, ctx), 2u);
    unsigned char u[4];
    EXPECT_EQ(far.read_full(u, ctx, error), 4u);
    EXPECT_EQ(far.read_full({u, 2}), 2u);
    std::string s(5, '\0');
    EXPECT_EQ(far.read(s), 5u);
    EXPECT_EQ(s, "56789");
    EXPECT_EQ(far.read(std::span(s).first(2), error), 2u);
    EXPECT_EQ(far.read(std::span<char, 5>(s)), 5u);
    EXPECT_EQ(s, "23456");
    EXPECT_FALSE(error);
  });
}

TEST_P(NetBytes, Datagrams) {
  run([] {
    auto p = vole::net::listen_packet("udp", "127.0.0.1:0");
    const auto at = p.local_address();
    std::error_code error;
    EXPECT_EQ(p.write_to(std::vector<unsigned char>{1, 2, 3}, at, error), 3u);
    std::array<std::byte, 8> got{};
    const auto [n, from] = p.read_from(got, error);
    EXPECT_EQ(n, 3u);
    EXPECT_EQ(got[2], std::byte{3});
    EXPECT_EQ(from, at);
    EXPECT_EQ(p.write_to("ab", at), 2u);
    std::vector<char> more(8);
    EXPECT_EQ(p.read_from(more).first, 2u);
  });
}

}  // namespace
