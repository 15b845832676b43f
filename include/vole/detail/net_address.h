// net::address: where a socket is. Included by vole/net.h.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <version>
#ifdef __cpp_lib_format
#include <format>
#endif

#include <vole/detail/access.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

enum class transport : std::uint8_t { none, tcp, udp, unix_stream, unix_datagram, unix_packet };

struct address_parts {
  transport kind = transport::none;
  std::uint8_t ip = 0;  // 4, 6; 0: not an IP address
  std::uint16_t port = 0;
  std::uint32_t zone = 0;                // an interface's index, for IPv6
  std::array<std::uint8_t, 16> bytes{};  // in network order; IPv4: the first four
  std::string path;                      // unix; "@name": abstract

  friend bool operator==(const address_parts&, const address_parts&) = default;
  friend std::strong_ordering operator<=>(const address_parts&, const address_parts&) = default;
};

}  // namespace detail

namespace net {

// A value. An IPv4 address that the kernel shows as IPv6 (::ffff:1.2.3.4) is an IPv4 address here.
class address {
 public:
  address() = default;  // empty: false

  // "127.0.0.1:80", "[::1]:80", "[fe80::1%eth0]:80"; a path, or "@name", if network is a unix
  // one. No names: net::resolve() looks those up. Throws std::system_error, invalid_argument.
  static address parse(std::string_view text, std::string_view network = "tcp");
  static address parse(std::string_view text, std::error_code& error);
  static address parse(std::string_view text, std::string_view network, std::error_code& error);

  explicit operator bool() const noexcept { return parts_.kind != detail::transport::none; }
  std::string host() const;  // "127.0.0.1", "::1", "fe80::1%eth0"; unix: the path
  std::uint16_t port() const noexcept { return parts_.port; }
  std::string_view network() const noexcept;  // "tcp", "udp", "unix", "unixgram", "unixpacket"; ""
  std::string to_string() const;              // as parse() reads it

  friend bool operator==(const address&, const address&) = default;
  friend std::strong_ordering operator<=>(const address&, const address&) = default;
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& to,
                                                      const address& a) {
    return to << a.to_string();
  }

 private:
  friend struct detail::access;
  explicit address(detail::address_parts p) noexcept : parts_(std::move(p)) {}

  detail::address_parts parts_;
};

}  // namespace net
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop

template <>
struct std::hash<vole::net::address> {
  std::size_t operator()(const vole::net::address& a) const noexcept;
};

#ifdef __cpp_lib_format
template <>
struct std::formatter<vole::net::address> : std::formatter<std::string> {
  template <class Context>
  auto format(const vole::net::address& a, Context& to) const {
    return std::formatter<std::string>::format(a.to_string(), to);
  }
};
#endif
