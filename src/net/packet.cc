// include/vole/net.h: datagrams.

#include <cerrno>
#include <string>

#include <vole/net.h>

#include "net/endpoint.h"
#include "net/socket_address.h"
#include "net/transfer.h"

namespace vole {
inline namespace v0 {
namespace net {
namespace {

std::string named(const char* what, const detail::endpoint* e) {
  std::string s = what;
  if (e == nullptr || !e->local) return s;
  return s.append(" ").append(e->local.network()).append(" ").append(e->local.to_string());
}

}  // namespace

std::pair<std::size_t, address> packet_conn::read_from(std::span<std::byte> to,
                                                       std::error_code& error) {
  detail::raw_address peer;
  std::int64_t n = 0;
  {
    const detail::turn mine(end_, detail::way::in, error);
    if (!mine) return {};
    n = detail::until_done(*end_, detail::way::in, error, [&](int fd) {
      peer.size = sizeof(peer.storage);
      return detail::calls::receive_from(fd, to.data(), to.size(), &peer.any, &peer.size);
    });
  }
  if (error) return {};
  return {static_cast<std::size_t>(n), detail::from_raw(peer, end_->kind.kind)};
}

std::size_t packet_conn::write_to(std::span<const std::byte> from, const address& to,
                                  std::error_code& error) {
  const detail::turn mine(end_, detail::way::out, error);
  if (!mine) return 0;
  detail::raw_address raw;
  if (!to || !detail::to_raw(to, end_->kind.family, raw)) {
    error = detail::system_error_code(to ? EAFNOSUPPORT : EDESTADDRREQ);
    return 0;
  }
  return static_cast<std::size_t>(detail::until_done(*end_, detail::way::out, error, [&](int fd) {
    return detail::calls::send_to(fd, from.data(), from.size(), &raw.any, raw.size);
  }));
}

std::pair<std::size_t, address> packet_conn::read_from(std::span<std::byte> to) {
  std::error_code error;
  auto r = read_from(to, error);
  if (error) detail::throw_net(named("read", end_), error);
  return r;
}

std::size_t packet_conn::write_to(std::span<const std::byte> from, const address& to) {
  std::error_code error;
  const std::size_t n = write_to(from, to, error);
  if (error) detail::throw_net(named("write", end_) + "->" + to.to_string(), error);
  return n;
}

}  // namespace net
}  // namespace v0
}  // namespace vole
