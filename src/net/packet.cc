// include/vole/net.h: datagrams.

#include <cerrno>
#include <string>

#include <vole/net.h>

#include "net/endpoint.h"
#include "net/errors.h"
#include "net/socket_address.h"
#include "net/transfer.h"

namespace vole {
inline namespace v0 {
namespace net {
namespace {

using detail::endpoint;
using detail::way;
using packet = std::pair<std::size_t, address>;

packet receive(endpoint* e, std::span<std::byte> to, const context* ctx, std::error_code& error) {
  detail::end_if_left_behind();
  detail::raw_address peer;
  std::int64_t n = 0;
  {
    const detail::turn mine(e, way::in, ctx, error);
    if (!mine) return {};
    const auto call = [&](int fd) {
      peer.size = sizeof(peer.storage);
      return os::net::receive_from(fd, to.data(), to.size(), &peer.any, &peer.size);
    };
    n = detail::until_done(*e, way::in, error, call, false, ctx);
  }
  if (error) return {};
  return {static_cast<std::size_t>(n), detail::from_raw(peer, e->kind.kind)};
}

std::size_t send(endpoint* e, std::span<const std::byte> from, const address& to,
                 const context* ctx, std::error_code& error) {
  detail::end_if_left_behind();
  const detail::turn mine(e, way::out, ctx, error);
  if (!mine) return 0;
  detail::raw_address raw;
  if (!to || !detail::to_raw(to, e->kind.family, raw)) {
    error = detail::system_error_code(to ? EAFNOSUPPORT : EDESTADDRREQ);
    return 0;
  }
  const auto call = [&](int fd) {
    return os::net::send_to(fd, from.data(), from.size(), &raw.any, raw.size);
  };
  return static_cast<std::size_t>(detail::until_done(*e, way::out, error, call, false, ctx));
}

packet receive_or_throw(endpoint* e, std::span<std::byte> to, const context* ctx) {
  std::error_code error;
  auto r = receive(e, to, ctx, error);
  if (error) detail::throw_net(detail::named("read", e), error);
  return r;
}
std::size_t send_or_throw(endpoint* e, std::span<const std::byte> from, const address& to,
                          const context* ctx) {
  std::error_code error;
  const std::size_t n = send(e, from, to, ctx, error);
  if (error) detail::throw_net(detail::named("write", e) + "->" + to.to_string(), error);
  return n;
}

}  // namespace

packet packet_conn::read_from(std::span<std::byte> to) {
  return receive_or_throw(end_, to, nullptr);
}
packet packet_conn::read_from(std::span<std::byte> to, std::error_code& error) {
  return receive(end_, to, nullptr, error);
}
packet packet_conn::read_from(std::span<std::byte> to, const context& ctx) {
  return receive_or_throw(end_, to, &ctx);
}
packet packet_conn::read_from(std::span<std::byte> to, const context& ctx, std::error_code& error) {
  return receive(end_, to, &ctx, error);
}

address packet_conn::remote_address() const {
  detail::end_if_left_behind();
  return end_ != nullptr ? end_->remote : address();
}

std::size_t packet_conn::write_to(const_buffer from, const address& to) {
  return send_or_throw(end_, from, to, nullptr);
}
std::size_t packet_conn::write_to(const_buffer from, const address& to, std::error_code& error) {
  return send(end_, from, to, nullptr, error);
}
std::size_t packet_conn::write_to(const_buffer from, const address& to, const context& ctx) {
  return send_or_throw(end_, from, to, &ctx);
}
std::size_t packet_conn::write_to(const_buffer from, const address& to, const context& ctx,
                                  std::error_code& error) {
  return send(end_, from, to, &ctx, error);
}

}  // namespace net
}  // namespace v0
}  // namespace vole
