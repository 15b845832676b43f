#include "net/endpoint.h"

#include <cerrno>

#include <vole/net.h>

#include "net/calls.h"
#include "net/errors.h"
#include "net/socket_address.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

void close_endpoint(endpoint& e) noexcept {
  if (!e.path_to_remove.empty()) {
    const using_file here(&e);  // once, and while nobody else can have the path yet
    if (here) calls::unlink(e.path_to_remove.c_str());
  }
  e.close();
}

}  // namespace

endpoint_ptr open_endpoint(int fd, const endpoint::traits& t, int& error) {
  struct fd_guard {
    int fd;
    ~fd_guard() {
      if (fd >= 0) calls::close(fd);
    }
  } guard{fd};
  auto* const e = new endpoint(fd, t);
  e->ours = t.kind == transport::tcp;
  error = e->attach();
  if (error != 0) {
    guard.fd = -1;
    e->close();
    e->drop();
    return nullptr;
  }
  guard.fd = -1;
  return endpoint_ptr(e);
}

void drop_endpoint(endpoint* e) noexcept {
  if (e == nullptr) return;
  close_endpoint(*e);
  e->drop();
}

net_handle::operator bool() const noexcept { return end_ != nullptr && !end_->closed(); }

void net_handle::close() const noexcept {
  if (end_ != nullptr) close_endpoint(*end_);
}

void net_handle::set_deadline(time_point t) const noexcept {
  set_read_deadline(t);
  set_write_deadline(t);
}
void net_handle::set_read_deadline(time_point t) const noexcept {
  if (end_ != nullptr) end_->set_deadline(way::in, to_ns(t));
}
void net_handle::set_write_deadline(time_point t) const noexcept {
  if (end_ != nullptr) end_->set_deadline(way::out, to_ns(t));
}

net::address net_handle::local_address() const {
  return end_ != nullptr ? end_->local : net::address();
}

int net_handle::native_handle() const noexcept {
  const using_file here(end_);
  return here ? end_->fd() : -1;
}

int net_handle::release() noexcept {
  endpoint* const e = std::exchange(end_, nullptr);
  if (e == nullptr) return -1;
  const int fd = e->fd();
  const bool ours = e->close(true);
  e->drop();
  return ours ? fd : -1;
}

}  // namespace detail

namespace net {
namespace {

using detail::endpoint;
using detail::calls::result;

// A file that somebody else made: what is it?
endpoint::traits traits_of(int fd) noexcept {
  using detail::transport;
  const result domain = detail::calls::option(fd, SOL_SOCKET, SO_DOMAIN);
  if (!domain.ok()) return {};
  const auto type = detail::calls::option(fd, SOL_SOCKET, SO_TYPE).value;
  const bool is_ip = domain.value == AF_INET || domain.value == AF_INET6;
  transport kind = transport::none;
  if (is_ip && type == SOCK_STREAM) kind = transport::tcp;
  if (is_ip && type == SOCK_DGRAM) kind = transport::udp;
  if (domain.value == AF_UNIX && type == SOCK_STREAM) kind = transport::unix_stream;
  if (domain.value == AF_UNIX && type == SOCK_DGRAM) kind = transport::unix_datagram;
  if (domain.value == AF_UNIX && type == SOCK_SEQPACKET) kind = transport::unix_packet;
  return {kind, static_cast<int>(domain.value), type == SOCK_STREAM};
}

}  // namespace

conn::conn(int fd, std::error_code& error) {
  error.clear();
  const result was = detail::calls::make_nonblocking(fd, true);
  if (!was.ok()) {
    error = detail::system_error_code(was.error);
    return;
  }
  auto* const e = new endpoint(fd, traits_of(fd));
  const int refused = e->attach();
  const bool blocking = was.value == 0;
  if (refused != 0 || !e->watched()) {
    if (blocking) detail::calls::make_nonblocking(fd, false);
  } else {
    e->blocking_at_end(blocking);
  }
  if (refused != 0) {
    e->close(true);
    e->drop();
    error = detail::system_error_code(refused);
    return;
  }
  end_ = e;
  e->local = detail::local_address_of(fd, e->kind.kind);
  e->remote = detail::remote_address_of(fd, e->kind.kind);
}

conn::conn(int fd) {
  std::error_code error;
  conn made(fd, error);
  if (error) detail::throw_net("adopt a file descriptor", error);
  *this = std::move(made);
}

}  // namespace net
}  // namespace v0
}  // namespace vole
