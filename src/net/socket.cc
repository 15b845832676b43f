#include "net/socket.h"

#include <netinet/tcp.h>

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr int kKeepAlive = 15;  // s

}  // namespace

calls::result make_socket(const network_name& n, int family) noexcept {
  const calls::result r = calls::socket(family, n.socket_type(), 0);
  if (!r.ok()) return r;
  const int fd = static_cast<int>(r.value);
  // What the kernel refuses here is a matter of comfort.
  if (n.kind == transport::tcp) {
    calls::set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    calls::set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    calls::set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAlive);
    calls::set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAlive);
  } else if (n.kind == transport::udp) {
    calls::set_option(fd, SOL_SOCKET, SO_BROADCAST, 1);
  }
  return r;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
