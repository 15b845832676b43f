#include "net/socket.h"

#include <netinet/tcp.h>

#include <algorithm>
#include <climits>

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

// Whole seconds, rounded up.
int seconds_of(duration d) noexcept {
  const auto s = std::chrono::ceil<std::chrono::seconds>(d).count();
  return static_cast<int>(std::clamp<std::int64_t>(s, 0, 32767));
}

// These options are not essential: a refusal is passed over.
void set_defaults(int fd, const network_name& n, const socket_options& o) noexcept {
  if (n.kind == transport::udp) os::net::set_option(fd, SOL_SOCKET, SO_BROADCAST, 1);
  if (n.kind != transport::tcp) return;
  os::net::set_option(fd, IPPROTO_TCP, TCP_NODELAY, o.no_delay ? 1 : 0);
  if (o.keep_alive <= duration::zero()) return;
  const int idle = seconds_of(o.keep_alive);
  os::net::set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  os::net::set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle);
  os::net::set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, idle);
}

// Sets the options that the caller asked for. 0 or errno.
int set_wanted(int fd, const socket_options& o) noexcept {
  int e = 0;
  if (o.reuse_port) e = os::net::set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1).error;
  if (e == 0 && o.send_buffer != 0)
    e = os::net::set_option(fd, SOL_SOCKET, SO_SNDBUF, o.send_buffer).error;
  if (e == 0 && o.receive_buffer != 0)
    e = os::net::set_option(fd, SOL_SOCKET, SO_RCVBUF, o.receive_buffer).error;
  if (e == 0 && o.linger) e = os::net::set_linger(fd, seconds_of(*o.linger)).error;
  return e;
}

}  // namespace

os::result make_socket(const network_name& n, int family, const socket_options& o) noexcept {
  const os::result r = os::net::socket(family, n.socket_type(), 0);
  if (!r.ok()) return r;
  owned_fd fd(static_cast<int>(r.value));
  set_defaults(fd.get(), n, o);
  if (const int e = set_wanted(fd.get(), o)) return {0, e};
  fd.take();
  return r;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
