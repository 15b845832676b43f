// net::address on its way to the kernel and back.
//
// Who    src/net.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string_view>

#include <vole/detail/net_address.h>

namespace vole {
inline namespace v0 {
namespace detail {

struct raw_address {
  union {
    sockaddr any;
    sockaddr_storage storage{};
  };
  socklen_t size = sizeof(sockaddr_storage);
};

// As a socket of that family (AF_*) wants it: IPv4 on an IPv6 socket is mapped. False: it cannot be
// said there (or a unix path is too long).
bool to_raw(const net::address& a, int family, raw_address& out) noexcept;
net::address from_raw(const raw_address& raw, transport kind);

net::address local_address_of(int fd, transport kind);  // empty: it has none
net::address remote_address_of(int fd, transport kind);

// "tcp4" and the like.
struct network_name {
  transport kind = transport::none;  // none: unknown
  int ip = 0;                        // 4, 6; 0: either
  bool is_ip() const noexcept { return kind == transport::tcp || kind == transport::udp; }
  int socket_type() const noexcept;  // SOCK_*
};
network_name find_network(std::string_view name) noexcept;

// "host:port" in two, as Go's SplitHostPort; brackets off. Null, or what is wrong with it.
const char* split_host_port(std::string_view text, std::string_view& host, std::string_view& port);
// A literal address, zone included. False: it is none.
bool parse_ip(std::string_view text, address_parts& out);
bool parse_port(std::string_view text, std::uint16_t& port) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
