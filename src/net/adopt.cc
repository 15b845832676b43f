// Files that somebody else made: conn(fd), listener(fd), packet_conn(fd).

#include <cerrno>
#include <memory>
#include <utility>

#include <vole/detail/left_behind.h>
#include <vole/net.h>

#include "os/net.h"
#include "net/endpoint.h"
#include "net/errors.h"
#include "net/socket_address.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

// A file that somebody else made: what is it?
endpoint::traits traits_of(int fd) noexcept {
  const os::result domain = os::net::option(fd, SOL_SOCKET, SO_DOMAIN);
  if (!domain.ok()) return {};
  const auto type = os::net::option(fd, SOL_SOCKET, SO_TYPE).value;
  const bool is_ip = domain.value == AF_INET || domain.value == AF_INET6;
  transport kind = transport::none;
  if (is_ip && type == SOCK_STREAM) kind = transport::tcp;
  if (is_ip && type == SOCK_DGRAM) kind = transport::udp;
  if (domain.value == AF_UNIX && type == SOCK_STREAM) kind = transport::unix_stream;
  if (domain.value == AF_UNIX && type == SOCK_DGRAM) kind = transport::unix_datagram;
  if (domain.value == AF_UNIX && type == SOCK_SEQPACKET) kind = transport::unix_packet;
  return {kind, static_cast<int>(domain.value), type == SOCK_STREAM};
}

// On the way to being adopted: the fd is still the caller's.
struct give_back {
  void operator()(endpoint* e) const noexcept {
    e->close(true);
    e->drop();
  }
};

}  // namespace

endpoint* adopt_fd(int fd, std::error_code& error) {
  end_if_left_behind();
  error.clear();
  const os::result was = os::net::make_nonblocking(fd, true);
  if (!was.ok()) {
    error = system_error_code(was.error);
    return nullptr;
  }
  const bool blocking = was.value == 0;
  rt::belonging<std::unique_ptr<endpoint, give_back>> mine(new endpoint(fd, traits_of(fd)));
  endpoint& e = **mine;
  e.blocking_at_end(blocking);
  if (const int refused = e.attach()) {
    error = system_error_code(refused);
    return nullptr;
  }
  if (blocking && !e.watched()) {
    e.blocking_at_end(false);
    os::net::make_nonblocking(fd, false);
  }
  e.local = local_address_of(fd, e.kind.kind);
  e.remote = remote_address_of(fd, e.kind.kind);
  return mine->release();
}

}  // namespace detail

namespace net {
namespace {

using detail::endpoint;

bool listens(int fd) noexcept {
  const os::result r = os::net::option(fd, SOL_SOCKET, SO_ACCEPTCONN);
  return r.ok() && r.value != 0;
}
bool has_datagrams(int fd) noexcept {
  const os::result r = os::net::option(fd, SOL_SOCKET, SO_TYPE);
  return r.ok() && r.value == SOCK_DGRAM;
}

// A file that is not a socket gives the kernel's error; a socket of another kind gives this one.
endpoint* adopt_if(bool suits, int fd, std::error_code& error) {
  detail::end_if_left_behind();
  if (suits) return detail::adopt_fd(fd, error);
  const os::result r = os::net::option(fd, SOL_SOCKET, SO_TYPE);
  error = r.ok() ? std::make_error_code(std::errc::invalid_argument)
                 : detail::system_error_code(r.error);
  return nullptr;
}

[[noreturn]] void refuse(const char* what, const std::error_code& error) {
  detail::failure f{error, {}, {}};
  if (error == std::errc::invalid_argument) f.what = what;
  detail::throw_net("adopt a file descriptor", f);
}

}  // namespace

conn::conn(int fd, std::error_code& error) : net_handle(detail::adopt_fd(fd, error)) {}

conn::conn(int fd) {
  std::error_code error;
  end_ = detail::adopt_fd(fd, error);
  if (error) detail::throw_net("adopt a file descriptor", error);
}

listener::listener(int fd, std::error_code& error) : net_handle(adopt_if(listens(fd), fd, error)) {}

listener::listener(int fd) {
  std::error_code error;
  end_ = adopt_if(listens(fd), fd, error);
  if (error) refuse("it is not a socket that listens", error);
}

packet_conn::packet_conn(int fd, std::error_code& error)
    : net_handle(adopt_if(has_datagrams(fd), fd, error)) {}

packet_conn::packet_conn(int fd) {
  std::error_code error;
  end_ = adopt_if(has_datagrams(fd), fd, error);
  if (error) refuse("it is not a socket of datagrams", error);
}

}  // namespace net
}  // namespace v0
}  // namespace vole
