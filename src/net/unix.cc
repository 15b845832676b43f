// Unix sockets: descriptors, credentials, and two ends within one process.

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <vole/net.h>

#include "net/endpoint.h"
#include "net/errors.h"
#include "net/transfer.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace net {
namespace {

using detail::endpoint;
using detail::owned_fd;
using detail::turn;
using detail::until_done;
using detail::way;

void send(endpoint* e, std::span<const int> fds, const context* ctx,
          std::error_code& error) noexcept {
  detail::end_if_left_behind();
  const turn mine(e, way::out, ctx, error);
  if (!mine) return;
  if (fds.empty() || fds.size() > os::net::kMostFds || e->kind.family != AF_UNIX) {
    error = std::make_error_code(std::errc::invalid_argument);
    return;
  }
  until_done(
      *e, way::out, error, [&](int fd) { return os::net::send_fds(fd, fds.data(), fds.size()); },
      false, ctx);
}

// Descriptors that nobody has taken yet. Room is there before any come.
struct received_fds {
  explicit received_fds(std::size_t most) : fds(most) {}
  ~received_fds() {
    for (std::size_t i = 0; i < n; ++i) os::net::close(fds[i]);
  }
  received_fds(const received_fds&) = delete;
  received_fds& operator=(const received_fds&) = delete;

  std::vector<int> fds;
  std::size_t n = 0;
};

std::vector<int> receive(endpoint* e, std::size_t most, const context* ctx,
                         std::error_code& error) {
  detail::end_if_left_behind();
  rt::belonging<received_fds> got(most < os::net::kMostFds ? most : os::net::kMostFds);
  {
    const turn mine(e, way::in, ctx, error);
    if (!mine) return {};
    const std::int64_t n = until_done(
        *e, way::in, error,
        [&](int fd) { return os::net::receive_fds(fd, got->fds.data(), got->fds.size()); }, false,
        ctx);
    if (n > 0) got->n = static_cast<std::size_t>(n);
  }
  got->fds.resize(std::exchange(got->n, 0));
  return std::move(got->fds);
}

void send_or_throw(endpoint* e, std::span<const int> fds, const context* ctx) {
  std::error_code error;
  send(e, fds, ctx, error);
  if (error) detail::throw_net(detail::named("send descriptors", e), error);
}
std::vector<int> receive_or_throw(endpoint* e, std::size_t most, const context* ctx) {
  std::error_code error;
  auto fds = receive(e, most, ctx, error);
  if (error) detail::throw_net(detail::named("receive descriptors", e), error);
  return fds;
}

}  // namespace

void conn::send_fds(std::span<const int> fds) { send_or_throw(end_, fds, nullptr); }
void conn::send_fds(std::span<const int> fds, std::error_code& error) noexcept {
  send(end_, fds, nullptr, error);
}
void conn::send_fds(std::span<const int> fds, const context& ctx) {
  send_or_throw(end_, fds, &ctx);
}
void conn::send_fds(std::span<const int> fds, const context& ctx, std::error_code& error) noexcept {
  send(end_, fds, &ctx, error);
}

std::vector<int> conn::recv_fds(std::size_t most) { return receive_or_throw(end_, most, nullptr); }
std::vector<int> conn::recv_fds(std::size_t most, std::error_code& error) {
  return receive(end_, most, nullptr, error);
}
std::vector<int> conn::recv_fds(std::size_t most, const context& ctx) {
  return receive_or_throw(end_, most, &ctx);
}
std::vector<int> conn::recv_fds(std::size_t most, const context& ctx, std::error_code& error) {
  return receive(end_, most, &ctx, error);
}

credentials conn::peer_credentials(std::error_code& error) const noexcept {
  detail::end_if_left_behind();
  const detail::using_file here(end_);
  error = here ? std::error_code() : std::error_code(errc::closed);
  if (!here) return {};
  std::int64_t who[3] = {};
  const os::result r = end_->kind.family == AF_UNIX ? os::net::peer_credentials(end_->fd(), who)
                                                       : os::result{0, EINVAL};
  if (!r.ok()) error = detail::system_error_code(r.error);
  return {static_cast<pid_t>(who[0]), static_cast<uid_t>(who[1]), static_cast<gid_t>(who[2])};
}
credentials conn::peer_credentials() const {
  std::error_code error;
  const credentials c = peer_credentials(error);
  if (error) detail::throw_net(detail::named("peer credentials", end_), error);
  return c;
}

std::pair<conn, conn> pipe(std::error_code& error) {
  detail::end_if_left_behind();
  int ends[2];
  const os::result made = os::net::socket_pair(ends);
  error = detail::system_error_code(made.error);
  if (error) return {};
  rt::belonging<std::pair<owned_fd, owned_fd>> fds{owned_fd{ends[0]}, owned_fd{ends[1]}};
  rt::belonging<std::pair<detail::endpoint_ptr, detail::endpoint_ptr>> both;
  const endpoint::traits t{detail::transport::unix_stream, AF_UNIX, true};
  int refused = 0;
  both->first = detail::open_endpoint(std::move(fds->first), t, refused);
  if (refused == 0) both->second = detail::open_endpoint(std::move(fds->second), t, refused);
  if (refused != 0) {
    error = detail::system_error_code(refused);
    return {};
  }
  return {detail::access::make<conn>(both->first.release()),
          detail::access::make<conn>(both->second.release())};
}
std::pair<conn, conn> pipe() {
  std::error_code error;
  auto both = pipe(error);
  if (error) detail::throw_net("pipe", error);
  return both;
}

}  // namespace net
}  // namespace v0
}  // namespace vole
