#include "net/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>
#include <cstddef>
#include <cstring>
#include <string>

#include "os/net.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool unix_to_raw(const std::string& path, raw_address& out) noexcept {
  auto& to = *reinterpret_cast<sockaddr_un*>(&out.storage);
  to.sun_family = AF_UNIX;
  const bool abstract = !path.empty() && path[0] == '@';
  if (path.size() + (abstract ? 0 : 1) > sizeof(to.sun_path)) return false;
  if (!abstract && path.find('\0') != std::string::npos) return false;
  std::memcpy(to.sun_path, path.data(), path.size());
  if (abstract) to.sun_path[0] = '\0';
  const std::size_t tail = abstract || path.empty() ? 0 : 1;
  out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + tail);
  return true;
}

std::string unix_path(const raw_address& raw) {
  const auto& from = *reinterpret_cast<const sockaddr_un*>(&raw.storage);
  if (raw.size <= offsetof(sockaddr_un, sun_path)) return {};
  std::string path(from.sun_path, raw.size - offsetof(sockaddr_un, sun_path));
  if (path[0] == '\0') {
    path[0] = '@';
  } else if (const auto end = path.find('\0'); end != std::string::npos) {
    path.resize(end);
  }
  return path;
}

void ip6_from_raw(const sockaddr_in6& from, address_parts& p) noexcept {
  p.port = ntohs(from.sin6_port);
  if (std::memcmp(&from.sin6_addr, kMapped, sizeof(kMapped)) == 0) {
    p.ip = 4;
    std::memcpy(p.bytes.data(), reinterpret_cast<const char*>(&from.sin6_addr) + 12, 4);
    return;
  }
  p.ip = 6;
  p.zone = from.sin6_scope_id;
  std::memcpy(p.bytes.data(), &from.sin6_addr, 16);
}

}  // namespace

bool to_raw(const net::address& a, int family, raw_address& out) noexcept {
  const address_parts& p = access::parts(a);
  out.storage = {};
  if (family == AF_UNIX)
    return p.ip == 0 && p.kind >= transport::unix_stream && unix_to_raw(p.path, out);
  if (family == AF_INET && p.ip == 4) {
    auto& to = *reinterpret_cast<sockaddr_in*>(&out.storage);
    to.sin_family = AF_INET;
    to.sin_port = htons(p.port);
    std::memcpy(&to.sin_addr, p.bytes.data(), 4);
    out.size = sizeof(to);
    return true;
  }
  if (family != AF_INET6 || p.ip == 0) return false;
  auto& to = *reinterpret_cast<sockaddr_in6*>(&out.storage);
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(p.port);
  to.sin6_scope_id = p.zone;
  auto* const bytes = reinterpret_cast<std::uint8_t*>(&to.sin6_addr);
  if (p.ip == 4) {
    std::memcpy(bytes, kMapped, sizeof(kMapped));
    std::memcpy(bytes + 12, p.bytes.data(), 4);
  } else {
    std::memcpy(bytes, p.bytes.data(), 16);
  }
  out.size = sizeof(to);
  return true;
}

net::address from_raw(const raw_address& raw, transport kind) {
  address_parts p;
  p.kind = kind;
  if (raw.size < sizeof(sa_family_t))  // an unnamed unix socket
    return kind >= transport::unix_stream ? access::make<net::address>(std::move(p)) : net::address();
  switch (raw.any.sa_family) {
    case AF_UNIX: p.path = unix_path(raw); break;
    case AF_INET: {
      const auto& from = *reinterpret_cast<const sockaddr_in*>(&raw.storage);
      p.ip = 4;
      p.port = ntohs(from.sin_port);
      std::memcpy(p.bytes.data(), &from.sin_addr, 4);
      break;
    }
    case AF_INET6: ip6_from_raw(*reinterpret_cast<const sockaddr_in6*>(&raw.storage), p); break;
    default: return {};
  }
  return access::make<net::address>(std::move(p));
}

net::address local_address_of(int fd, transport kind) {
  raw_address raw;
  if (kind == transport::none || !os::net::local_name(fd, &raw.any, &raw.size).ok()) return {};
  return from_raw(raw, kind);
}
net::address remote_address_of(int fd, transport kind) {
  raw_address raw;
  if (kind == transport::none || !os::net::peer_name(fd, &raw.any, &raw.size).ok()) return {};
  return from_raw(raw, kind);
}

int network_name::socket_type() const noexcept {
  switch (kind) {
    case transport::udp:
    case transport::unix_datagram: return SOCK_DGRAM;
    case transport::unix_packet: return SOCK_SEQPACKET;
    default: return SOCK_STREAM;
  }
}

network_name find_network(std::string_view name) noexcept {
  if (name == "unix") return {transport::unix_stream, 0};
  if (name == "unixgram") return {transport::unix_datagram, 0};
  if (name == "unixpacket") return {transport::unix_packet, 0};
  int ip = 0;
  if (name.size() == 4 && (name[3] == '4' || name[3] == '6')) ip = name[3] - '0';
  if (ip != 0) name.remove_suffix(1);
  if (name == "tcp") return {transport::tcp, ip};
  if (name == "udp") return {transport::udp, ip};
  return {};
}

const char* split_host_port(std::string_view text, std::string_view& host, std::string_view& port) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return "missing port in address";
  port = text.substr(colon + 1);
  host = text.substr(0, colon);
  if (!text.empty() && text[0] == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return "missing ']' in address";
    if (end + 1 != colon)
      return end + 1 == text.size() ? "missing port in address" : "too many colons in address";
    host = text.substr(1, end - 1);
  } else if (host.find(':') != std::string_view::npos) {
    return "too many colons in address";
  }
  if (host.find_first_of("[]") != std::string_view::npos) return "unexpected bracket in address";
  return nullptr;
}

bool parse_ip(std::string_view text, address_parts& out) {
  std::string zone;
  if (const auto percent = text.find('%'); percent != std::string_view::npos) {
    zone = text.substr(percent + 1);
    text = text.substr(0, percent);
    if (zone.empty()) return false;
  }
  const std::string literal(text);
  if (literal.find('\0') != std::string::npos) return false;
  if (zone.empty() && inet_pton(AF_INET, literal.c_str(), out.bytes.data()) == 1) {
    out.ip = 4;
    return true;
  }
  raw_address raw;
  auto& v6 = *reinterpret_cast<sockaddr_in6*>(&raw.storage);
  if (inet_pton(AF_INET6, literal.c_str(), &v6.sin6_addr) != 1) return false;
  ip6_from_raw(v6, out);
  out.port = 0;
  if (zone.empty() || out.ip == 4) return zone.empty();
  const auto [end, bad] = std::from_chars(zone.data(), zone.data() + zone.size(), out.zone);
  if (bad != std::errc() || end != zone.data() + zone.size())
    out.zone = os::net::zone_index(zone.c_str());
  return out.zone != 0;
}

bool parse_port(std::string_view text, std::uint16_t& port) noexcept {
  if (text.empty()) {
    port = 0;
    return true;
  }
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), port);
  return bad == std::errc() && end == text.data() + text.size();
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
