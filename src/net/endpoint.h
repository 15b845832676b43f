// The record behind a conn, listener or packet_conn: a file and its network properties.
//
// Who    src/net; src/file and src/process.
// Law    everything here but the file's own state is written before the handle exists.
#pragma once

#include <memory>
#include <string>
#include <system_error>

#include <vole/detail/net_address.h>
#include <vole/detail/net_handle.h>

#include "os/net.h"
#include "net/pollable.h"
#include "net/transit.h"

namespace vole {
inline namespace v0 {
namespace detail {

class endpoint final : public pollable {
 public:
  struct traits {
    transport kind = transport::none;
    int family = 0;         // AF_*; 0: not a socket
    bool is_stream = true;  // bytes; else datagrams
  };
  endpoint(int fd, const traits& t) noexcept : pollable(fd), kind(t) {}

  // A stream of ours that has given less than was asked for has no more data: new data will be an
  // event. That does not hold for files that others have made (they may have boundaries), nor after an
  // end or urgent bytes. Between acquire and release of way::in.
  bool drained() const noexcept { return drained_ && has_only_data(); }
  void has_given(std::int64_t n, std::size_t of) noexcept {
    drained_ = ours && n > 0 && static_cast<std::size_t>(n) < of;
  }

  const traits kind;
  bool ours = false;  // a TCP connection that we have opened or accepted
  bool is_socket() const noexcept { return kind.family != 0; }
  net::address local, remote;
  std::string path_to_remove;  // a unix listener's, until it is closed
  transit_pipes transit;

 private:
  bool drained_ = false;
};

// An fd until somebody takes it over.
class owned_fd {
 public:
  explicit owned_fd(int fd) noexcept : fd_(fd) {}
  owned_fd(owned_fd&& other) noexcept : fd_(other.take()) {}
  ~owned_fd() {
    if (fd_ >= 0) os::net::close(fd_);
  }
  owned_fd& operator=(const owned_fd&) = delete;
  int get() const noexcept { return fd_; }
  void hold(int fd) noexcept { fd_ = fd; }  // it holds none
  int take() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

struct drop_handle {
  void operator()(endpoint* e) const noexcept { drop_endpoint(e); }
};
using endpoint_ptr = std::unique_ptr<endpoint, drop_handle>;

// A file that is its frame's own.
struct close_and_drop {
  void operator()(pollable* p) const noexcept {
    p->close();
    p->drop();
  }
};
using pollable_ptr = std::unique_ptr<pollable, close_and_drop>;

// Takes over fd, which is non-blocking, and watches it. Null: `error`, and fd is closed.
endpoint_ptr open_endpoint(owned_fd fd, const endpoint::traits& t, int& error);

// Adopts fd, which somebody else made. Null: `error`, and fd is the caller's.
endpoint* adopt_fd(int fd, std::error_code& error);

// "read tcp 127.0.0.1:1->127.0.0.1:2"; e may be null.
std::string named(const char* what, const endpoint* e);

}  // namespace detail
}  // namespace v0
}  // namespace vole
