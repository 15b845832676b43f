// include/vole/detail/net_address.h: addresses as text.

#include <arpa/inet.h>
#include <net/if.h>

#include <cstring>

#include <vole/detail/left_behind.h>
#include <vole/detail/net_address.h>

#include "os/net.h"
#include "net/errors.h"
#include "net/socket_address.h"

namespace vole {
inline namespace v0 {
namespace net {
namespace {

using detail::address_parts;
using detail::transport;

// What is wrong, or null.
const char* read(std::string_view text, std::string_view network, address_parts& p) {
  detail::end_if_left_behind();
  const detail::network_name n = detail::find_network(network);
  if (n.kind == transport::none) return "unknown network";
  p.kind = n.kind;
  if (!n.is_ip()) {
    p.path = text;
    detail::raw_address raw;
    return detail::to_raw(detail::access::make<address>(p), AF_UNIX, raw) ? nullptr : "path too long";
  }
  std::string_view host, port;
  if (const char* const wrong = detail::split_host_port(text, host, port)) return wrong;
  if (!detail::parse_ip(host, p)) return "not an IP address";
  if (n.ip != 0 && p.ip != n.ip) return "no suitable address";
  if (port.empty() || !detail::parse_port(port, p.port)) return "invalid port";
  return nullptr;
}

}  // namespace

address address::parse(std::string_view text, std::string_view network, std::error_code& error) {
  address_parts p;
  error.clear();
  if (read(text, network, p) == nullptr) return detail::access::make<address>(std::move(p));
  error = std::make_error_code(std::errc::invalid_argument);
  return {};
}

address address::parse(std::string_view text, std::error_code& error) {
  return parse(text, "tcp", error);
}

address address::parse(std::string_view text, std::string_view network) {
  address_parts p;
  const char* const wrong = read(text, network, p);
  if (wrong == nullptr) return detail::access::make<address>(std::move(p));
  detail::throw_net("address " + std::string(text),
                    detail::failure{std::make_error_code(std::errc::invalid_argument), wrong, {}});
}

std::string address::host() const {
  if (parts_.ip == 0) return parts_.path;
  char text[INET6_ADDRSTRLEN];
  inet_ntop(parts_.ip == 4 ? AF_INET : AF_INET6, parts_.bytes.data(), text, sizeof(text));
  std::string h = text;
  if (parts_.zone == 0) return h;
  char name[IF_NAMESIZE];
  return h + '%' +
         (os::net::zone_name(parts_.zone, name) ? std::string(name)
                                                      : std::to_string(parts_.zone));
}

std::string_view address::network() const noexcept {
  constexpr std::string_view kNames[] = {"", "tcp", "udp", "unix", "unixgram", "unixpacket"};
  return kNames[static_cast<unsigned>(parts_.kind)];
}

std::string address::to_string() const {
  if (parts_.ip == 0) return parts_.path;
  const std::string port = ':' + std::to_string(parts_.port);
  return parts_.ip == 6 ? '[' + host() + ']' + port : host() + port;
}

}  // namespace net
}  // namespace v0
}  // namespace vole

std::size_t std::hash<vole::net::address>::operator()(const vole::net::address& a) const noexcept {
  const vole::detail::address_parts& p = vole::detail::access::parts(a);
  std::size_t h = std::hash<std::string_view>{}(
      {reinterpret_cast<const char*>(p.bytes.data()), p.bytes.size()});
  h = h * 31 + std::hash<std::string>{}(p.path);
  const std::size_t rest =
      std::size_t{p.port} << 16 | std::size_t{p.ip} << 8 | static_cast<std::size_t>(p.kind);
  return (h * 31 + p.zone) * 31 + rest;
}
