// Making sockets: the options that every one of ours has.
//
// Who    connect.cc, listen.cc.
// Law    as Go: TCP_NODELAY, keep-alive after 15 s; datagrams may be broadcast. The kernel gives a
//        listener's options to the connections that it accepts.
#pragma once

#include <optional>

#include <vole/net_options.h>

#include "os/net.h"
#include "net/endpoint.h"
#include "net/socket_address.h"

namespace vole {
inline namespace v0 {
namespace detail {

inline int family_of(const net::address& a) noexcept {
  switch (access::parts(a).ip) {
    case 4: return AF_INET;
    case 6: return AF_INET6;
    default: return AF_UNIX;
  }
}

inline endpoint::traits traits_for(const network_name& n, int family) noexcept {
  return {n.kind, family, n.socket_type() == SOCK_STREAM};
}

// The part of dial_options and listen_options that concerns the socket.
struct socket_options {
  explicit socket_options(const net::dial_options& o) noexcept
      : keep_alive(o.keep_alive),
        no_delay(o.no_delay),
        linger(o.linger),
        send_buffer(o.send_buffer),
        receive_buffer(o.receive_buffer) {}
  explicit socket_options(const net::listen_options& o) noexcept
      : keep_alive(o.keep_alive),
        no_delay(o.no_delay),
        reuse_port(o.reuse_port),
        send_buffer(o.send_buffer),
        receive_buffer(o.receive_buffer) {}

  duration keep_alive;
  bool no_delay;
  bool reuse_port = false;
  std::optional<duration> linger;
  int send_buffer, receive_buffer;
};

// Non-blocking, with its options. The value is the fd.
os::result make_socket(const network_name& n, int family, const socket_options& o) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
