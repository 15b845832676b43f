#include "net/connect.h"

#include <cerrno>
#include <memory>

#include <vole/context.h>
#include <vole/time.h>

#include "net/socket.h"
#include "net/transfer.h"
#include "os/os.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::int64_t kFirstPause = 1'000'000, kLongestPause = 50'000'000;  // ns

// Cancels a connection that is on its way, by a deadline in the past. It may come late: then the
// context is cancelled, the dial has failed, and the record (which it keeps) is closed.
class interrupter {
 public:
  interrupter(const context* ctx, endpoint& e) {
    if (ctx == nullptr || ctx->done() == nullptr) return;
    e.keep();
    const std::shared_ptr<endpoint> kept(&e, [](endpoint* k) { k->drop(); });
    watch_ = after_func(*ctx, [kept] { kept->set_deadline(way::out, 0); });
    armed_ = true;
  }
  // True: it did, or is about to.
  bool has_come() { return armed_ && !watch_.stop(); }

 private:
  func_watch watch_;
  bool armed_ = false;
};

// Is it there? 0; EINPROGRESS: not yet.
int progress(int fd) noexcept {
  const calls::result pending = calls::option(fd, SOL_SOCKET, SO_ERROR);
  if (!pending.ok()) return pending.error;
  if (pending.value == EALREADY || pending.value == EINTR) return EINPROGRESS;
  if (pending.value != 0 && pending.value != EISCONN) return static_cast<int>(pending.value);
  raw_address peer;
  return calls::peer_name(fd, &peer.any, &peer.size).ok() ? 0 : EINPROGRESS;
}

std::error_code finish(endpoint& e, const patience& p) {
  interrupter stop(p.ctx, e);
  std::error_code error;
  {
    const turn mine(&e, way::out, error);
    e.set_deadline(way::out, p.deadline);
    int state = EINPROGRESS;
    for (pollable::outcome o = e.state(way::out);; o = e.wait(way::out)) {
      error = code_of(o);
      if (error || (state = progress(e.fd())) != EINPROGRESS) break;
    }
    if (!error && state != 0) error = system_error_code(state);
    if (stop.has_come()) error = p.over();
    e.set_deadline(way::out, kNever);
  }
  return error;
}

// A unix socket whose listener is busy refuses without a way to wait for it.
std::error_code start(int fd, const raw_address& to, const patience& p, bool& pending) {
  pending = false;
  for (std::int64_t pause = kFirstPause;; pause = pause < kLongestPause ? 2 * pause : pause) {
    const calls::result r = calls::connect(fd, &to.any, to.size);
    pending = r.error == EINPROGRESS;
    if (r.ok() || pending) return {};
    if (r.error != EAGAIN || to.any.sa_family != AF_UNIX) return system_error_code(r.error);
    if (const std::error_code over = p.over()) return over;
    sleep_for(duration(pause));
  }
}

connected failed(std::error_code code, const net::address& to) {
  connected c;
  c.why = {code, {}, to.to_string()};
  return c;
}

connected connect_once(const network_name& n, const net::address& to, const patience& p) {
  const int family = family_of(to);
  raw_address raw;
  if (!to_raw(to, family, raw))
    return failed(std::make_error_code(std::errc::invalid_argument), to);
  const calls::result made = make_socket(n, family);
  if (!made.ok()) return failed(system_error_code(made.error), to);
  owned_fd fd(static_cast<int>(made.value));
  bool pending;
  if (const std::error_code refused = start(fd.get(), raw, p, pending)) return failed(refused, to);
  connected c;
  int error = 0;
  c.end = open_endpoint(fd.take(), traits_for(n, family), error);
  if (c.end == nullptr) return failed(system_error_code(error), to);
  if (pending)
    if (const std::error_code refused = finish(*c.end, p)) return failed(refused, to);
  c.end->local = local_address_of(c.end->fd(), n.kind);
  c.end->remote = to;
  return c;
}

// A connection to a free port of this machine may be given that very port, and meet itself. Nobody
// listens there.
bool met_itself(const connected& c) noexcept {
  return c.end != nullptr && c.end->kind.kind == transport::tcp && c.end->local == c.end->remote;
}

}  // namespace

connected connect(const network_name& n, const net::address& to, const patience& p) {
  connected c;
  for (int i = 0; i < 3; ++i) {
    c = connect_once(n, to, p);
    if (c.end != nullptr ? !met_itself(c) : c.why.code != std::errc::address_not_available)
      return c;
  }
  return c.end != nullptr ? failed(system_error_code(ECONNREFUSED), to) : std::move(c);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
