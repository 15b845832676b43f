#include "net/connect.h"

#include <cerrno>
#include <memory>

#include <vole/context.h>

#include "net/socket.h"
#include "net/transfer.h"
#include "os/os.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::int64_t kFirstPause = 1'000'000, kLongestPause = 50'000'000;  // ns

// Is it there? 0; EINPROGRESS: not yet.
int progress(int fd) noexcept {
  const os::result pending = os::net::option(fd, SOL_SOCKET, SO_ERROR);
  if (!pending.ok()) return pending.error;
  if (pending.value == EALREADY || pending.value == EINTR) return EINPROGRESS;
  if (pending.value != 0 && pending.value != EISCONN) return static_cast<int>(pending.value);
  raw_address peer;
  return os::net::peer_name(fd, &peer.any, &peer.size).ok() ? 0 : EINPROGRESS;
}

std::error_code finish(endpoint& e, const patience& p) {
  std::error_code error;
  const turn mine(&e, way::out, error);
  e.set_deadline(way::out, p.deadline);
  int state = EINPROGRESS;
  for (pollable::outcome o = e.state(way::out);; o = e.wait(way::out, interrupter_of(p.ctx))) {
    error = code_of(o, p.ctx);
    if (error || (state = progress(e.fd())) != EINPROGRESS) break;
  }
  if (!error && state != 0) error = system_error_code(state);
  e.set_deadline(way::out, kNever);
  return error;
}

// A unix socket whose listener is busy refuses without a way to wait for it: ask again, later and
// later.
std::error_code insist(endpoint& e, const raw_address& to, const patience& p) {
  std::error_code error;
  const turn mine(&e, way::out, error);
  for (std::int64_t pause = kFirstPause;; pause = pause < kLongestPause ? 2 * pause : pause) {
    const std::int64_t until = os::now_ns() + pause;
    do {
      if (const std::error_code over = p.over()) return over;
      e.wait_until(way::out, until, interrupter_of(p.ctx));
    } while (os::now_ns() < until);
    const os::result r = os::net::connect(e.fd(), &to.any, to.size);
    if (r.error != EAGAIN) return r.ok() ? std::error_code() : system_error_code(r.error);
  }
}

// Before it connects. 0 or errno.
int prepare(int fd, const dialing& d, int family) {
  if (d.control != nullptr && *d.control) (*d.control)(fd);
  if (!d.local) return 0;
  raw_address from;
  if (!to_raw(d.local, family, from)) return EADDRNOTAVAIL;
  return os::net::bind(fd, &from.any, from.size).error;
}

// The socket, and what connect(2) said: 0, EINPROGRESS, or an error.
struct started {
  owned_fd fd{-1};
  int state = 0;
};

started start(const dialing& d, int family, const raw_address& to) {
  const os::result made = make_socket(d.n, family, d.options);
  if (!made.ok()) return {owned_fd(-1), made.error};
  rt::belonging<owned_fd> fd(static_cast<int>(made.value));
  int state = prepare(fd->get(), d, family);
  if (state == 0) state = os::net::connect(fd->get(), &to.any, to.size).error;
  return {std::move(*fd), state};
}

std::error_code connect_into(endpoint_ptr& end, const dialing& d, const net::address& to,
                             const patience& p) {
  const int family = family_of(to);
  raw_address raw;
  if (!to_raw(to, family, raw)) return std::make_error_code(std::errc::invalid_argument);
  started s = start(d, family, raw);
  const bool busy = s.state == EAGAIN && family == AF_UNIX;
  if (s.state != 0 && s.state != EINPROGRESS && !busy) return system_error_code(s.state);
  int error = 0;
  end = open_endpoint(std::move(s.fd), traits_for(d.n, family), error);
  if (end == nullptr) return system_error_code(error);
  if (s.state == EINPROGRESS) return finish(*end, p);
  return busy ? insist(*end, raw, p) : std::error_code();
}

connected connect_once(const dialing& d, const net::address& to, const patience& p) {
  rt::belonging<connected> c;
  if (const std::error_code refused = connect_into(c->end, d, to, p)) {
    c->end.reset();
    c->why = {refused, {}, to.to_string()};
  } else {
    c->end->local = local_address_of(c->end->fd(), d.n.kind);
    c->end->remote = to;
  }
  return std::move(*c);
}

// A connection to a free port of this machine may be given that very port, and meet itself. Nobody
// listens there.
bool met_itself(const connected& c) noexcept {
  return c.end != nullptr && c.end->kind.kind == transport::tcp && c.end->local == c.end->remote;
}

}  // namespace

connected connect(const dialing& d, const net::address& to, const patience& p) {
  rt::belonging<connected> c;
  for (int i = 0; i < 3; ++i) {
    *c = connect_once(d, to, p);
    if (c->end != nullptr ? !met_itself(*c)
                          : d.local || c->why.code != std::errc::address_not_available)
      return std::move(*c);
  }
  if (c->end != nullptr) *c = {nullptr, {system_error_code(ECONNREFUSED), {}, to.to_string()}};
  return std::move(*c);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
