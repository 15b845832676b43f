// net::listen, listen_packet, and accept.
//
// Who    any goroutine, any plain thread.
// Note   a wildcard listens on IPv6 and IPv4 by one socket, where the kernel has IPv6.

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include <vole/net.h>

#include "net/resolve.h"
#include "net/socket.h"
#include "net/transfer.h"
#include "os/os.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace net {
namespace {

using detail::endpoint;
using detail::endpoint_ptr;
using detail::failure;
using detail::network_name;
using detail::transport;
using detail::way;

constexpr std::int64_t kFirstPause = 5'000'000, kLongestPause = 1'000'000'000;  // ns

bool is_wildcard(const address& a) noexcept {
  return detail::access::parts(a).ip != 0 && detail::access::parts(a).bytes == std::array<std::uint8_t, 16>{};
}

// 0 or errno.
int bind_socket(int fd, const network_name& n, const address& at, int family, bool packets,
                int wanted) {
  if (family == AF_INET6)
    os::net::set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, n.ip == 6 || !is_wildcard(at) ? 1 : 0);
  if (n.kind == transport::tcp)
    if (const int e = os::net::set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1).error) return e;
  detail::raw_address raw;
  if (!detail::to_raw(at, family, raw)) return EINVAL;
  if (const int e = os::net::bind(fd, &raw.any, raw.size).error) return e;
  static const int most = os::net::most_pending();
  return packets ? 0 : os::net::listen(fd, wanted > 0 ? wanted : most).error;
}

endpoint_ptr open_at(const network_name& n, const address& at, bool packets,
                     const listen_options& o, failure& f) {
  const int family = detail::family_of(at);
  f = {{}, {}, at.to_string()};
  const os::result made = detail::make_socket(n, family, detail::socket_options(o));
  if (!made.ok()) {
    f.code = detail::system_error_code(made.error);
    return nullptr;
  }
  rt::belonging<detail::owned_fd> fd(static_cast<int>(made.value));
  if (o.control) o.control(fd->get());
  int error = bind_socket(fd->get(), n, at, family, packets, o.backlog);
  endpoint_ptr e;
  if (error == 0) e = detail::open_endpoint(std::move(*fd), detail::traits_for(n, family), error);
  if (e == nullptr) {
    f.code = detail::system_error_code(error);
    return nullptr;
  }
  e->local = detail::local_address_of(e->fd(), n.kind);
  const std::string& path = detail::access::parts(at).path;
  if (!packets && !path.empty() && path[0] != '@') e->path_to_remove = path;
  return e;
}

endpoint_ptr open_any(std::string_view network, std::string_view at, bool packets,
                      const listen_options& o, failure& f) {
  detail::end_if_left_behind();
  const network_name n = detail::find_network(network);
  const bool suits = (n.socket_type() == SOCK_DGRAM) == packets;
  if (n.kind != transport::none && !suits) {
    f = {std::make_error_code(std::errc::protocol_not_supported),
         packets ? "not a network of datagrams" : "not a network of connections",
         {}};
    return nullptr;
  }
  rt::belonging<std::vector<address>> list(
      detail::find_addresses(n, network, at, detail::purpose::listen, {}, f));
  if (f) return nullptr;
  auto& found = *list;
  // A name stands for one address, IPv4 if it can be; a wildcard for both.
  if (!is_wildcard(found[0])) {
    for (auto& a : found)
      if (detail::access::parts(a).ip == 4) {
        std::swap(found[0], a);
        break;
      }
    found.resize(1);
  }
  for (const address& a : found) {
    endpoint_ptr e = open_at(n, a, packets, o, f);
    const bool no_such_family = f.code == std::errc::address_family_not_supported ||
                                f.code == std::errc::address_not_available;
    if (e != nullptr || !no_such_family) return e;
  }
  return nullptr;
}

endpoint* open_or_throw(std::string_view network, std::string_view at, bool packets,
                        const listen_options& o) {
  rt::belonging<failure> f;
  endpoint_ptr e = open_any(network, at, packets, o, *f);
  if (e != nullptr) return e.release();
  std::string what = "listen " + std::string(network);
  if (f->what.empty()) (what += ' ') += f->where.empty() ? at : std::string_view(f->where);
  detail::throw_net(std::move(what), *f);
}

endpoint* open_quietly(std::string_view network, std::string_view at, bool packets,
                       const listen_options& o, std::error_code& error) {
  rt::belonging<failure> f;
  endpoint_ptr e = open_any(network, at, packets, o, *f);
  error = f->code;
  return e.release();
}

// ── accept ──

bool is_shortage(const std::error_code& e) noexcept {
  return e == std::errc::too_many_files_open || e == std::errc::too_many_files_open_in_system ||
         e == std::errc::no_buffer_space || e == std::errc::not_enough_memory;
}

// The peer has given up in the queue.
bool is_peers(int error) noexcept { return error == ECONNABORTED || error == EPROTO; }

int accept_turn(endpoint& l, detail::raw_address& peer, const context* ctx,
                std::error_code& error) noexcept {
  const auto call = [&](int fd) {
    for (;;) {
      peer.size = sizeof(peer.storage);
      const os::result r = os::net::accept(fd, &peer.any, &peer.size);
      if (!is_peers(r.error)) return r;
    }
  };
  return static_cast<int>(detail::until_done(l, way::in, error, call, false, ctx));
}

// The back-off. Closing, deadlines and the context end it; a new connection only wakes us.
void wait_a_while(endpoint& l, std::int64_t pause, const context* ctx) noexcept {
  const std::int64_t until = os::now_ns() + pause;
  while (os::now_ns() < until)
    if (l.wait_until(way::in, until, detail::interrupter_of(ctx)) != endpoint::outcome::go_on)
      return;
}

// The turn is over before the fd is put to use, and may be long in ending.
void accept_fd(endpoint* l, bool insist, const context* ctx, detail::owned_fd& into,
               detail::raw_address& peer, std::error_code& error) noexcept {
  const detail::turn mine(l, way::in, ctx, error);
  if (!mine) return;
  for (std::int64_t pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    error.clear();
    const int fd = accept_turn(*l, peer, ctx, error);
    if (!error) return into.hold(fd);
    if (!is_shortage(error)) return;
    wait_a_while(*l, pause, ctx);
    if (!insist) return;
  }
}

conn accept_one(endpoint* l, bool insist, const context* ctx, std::error_code& error) {
  detail::end_if_left_behind();
  detail::raw_address peer;
  rt::belonging<detail::owned_fd> fd(-1);
  accept_fd(l, insist, ctx, *fd, peer, error);
  if (error) return {};
  const int number = fd->get();
  int refused = 0;
  endpoint_ptr e = detail::open_endpoint(std::move(*fd), l->kind, refused);
  if (e == nullptr) {
    error = detail::system_error_code(refused);
    return {};
  }
  e->local = is_wildcard(l->local) ? detail::local_address_of(number, l->kind.kind) : l->local;
  e->remote = detail::from_raw(peer, l->kind.kind);
  return detail::access::make<conn>(e.release());
}

conn accept_or_throw(endpoint* l, const context* ctx) {
  std::error_code error;
  conn c = accept_one(l, true, ctx, error);
  if (error) detail::throw_net(detail::named("accept", l), error);
  return c;
}

}  // namespace

conn listener::accept() { return accept_or_throw(end_, nullptr); }
conn listener::accept(std::error_code& error) { return accept_one(end_, false, nullptr, error); }
conn listener::accept(const context& ctx) { return accept_or_throw(end_, &ctx); }
conn listener::accept(const context& ctx, std::error_code& error) {
  return accept_one(end_, false, &ctx, error);
}

listener listen(std::string_view network, std::string_view at, const listen_options& options) {
  return detail::access::make<listener>(open_or_throw(network, at, false, options));
}
listener listen(std::string_view network, std::string_view at, std::error_code& error) {
  return detail::access::make<listener>(open_quietly(network, at, false, {}, error));
}
listener listen(std::string_view network, std::string_view at, const listen_options& options,
                std::error_code& error) {
  return detail::access::make<listener>(open_quietly(network, at, false, options, error));
}
packet_conn listen_packet(std::string_view network, std::string_view at,
                          const listen_options& options) {
  return detail::access::make<packet_conn>(open_or_throw(network, at, true, options));
}
packet_conn listen_packet(std::string_view network, std::string_view at, std::error_code& error) {
  return detail::access::make<packet_conn>(open_quietly(network, at, true, {}, error));
}
packet_conn listen_packet(std::string_view network, std::string_view at,
                          const listen_options& options, std::error_code& error) {
  return detail::access::make<packet_conn>(open_quietly(network, at, true, options, error));
}

}  // namespace net
}  // namespace v0
}  // namespace vole
