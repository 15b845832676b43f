// Making sockets: the options that every one of ours has.
//
// Who    dial.cc, listen.cc.
// Law    as Go: TCP_NODELAY, keep-alive after 15 s; datagrams may be broadcast. What a listener
//        has, the kernel gives to the connections that it accepts.
#pragma once

#include "net/calls.h"
#include "net/endpoint.h"
#include "net/socket_address.h"

namespace vole {
inline namespace v0 {
namespace detail {

// An fd until somebody takes it over.
class owned_fd {
 public:
  explicit owned_fd(int fd) noexcept : fd_(fd) {}
  ~owned_fd() {
    if (fd_ >= 0) calls::close(fd_);
  }
  owned_fd(const owned_fd&) = delete;
  owned_fd& operator=(const owned_fd&) = delete;
  int get() const noexcept { return fd_; }
  int take() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

inline int family_of(const net::address& a) noexcept {
  switch (a.parts().ip) {
    case 4: return AF_INET;
    case 6: return AF_INET6;
    default: return AF_UNIX;
  }
}

inline endpoint::traits traits_for(const network_name& n, int family) noexcept {
  return {n.kind, family, n.socket_type() == SOCK_STREAM};
}

// Non-blocking, with its options. The value is the fd.
calls::result make_socket(const network_name& n, int family) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
