#include "net/resolve.h"

#include <utility>

#include <vole/detail/left_behind.h>
#include <vole/net.h>
#include <vole/select.h>

#include "net/lookup.h"
#include "os/os.h"
#include "sched/life/belonging.h"
#include "time/error_of.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

using net::address;

failure invalid(std::string what) {
  return {std::make_error_code(std::errc::invalid_argument), std::move(what), {}};
}

void push_ip(std::vector<address>& out, const network_name& n, const char* literal,
             std::uint16_t port) {
  address_parts p;
  parse_ip(literal, p);
  if (n.ip != 0 && p.ip != n.ip) return;
  p.kind = n.kind;
  p.port = port;
  out.push_back(detail::access::make<address>(std::move(p)));
}

lookup_answer ask_threads(const network_name& n, std::string_view network, std::string_view host,
                          std::string_view port, const patience& p) {
  rt::belonging<std::shared_ptr<lookup_job>> mine(std::make_shared<lookup_job>());
  lookup_job& job = **mine;
  job.host = host;
  job.port = port.empty() ? "0" : port;
  job.network = network;
  job.kind = n;
  lookup_answer a;
  if (host.find('\0') != std::string_view::npos || port.find('\0') != std::string_view::npos) {
    a.why = invalid("invalid host name");
    return a;
  }
  a.why.code = start_lookup(*mine);
  if (!a.why) a.why = wait_for_answer(job, job.host, p);
  return a.why ? a : std::move(job.found);
}

std::vector<address> find_unix(const network_name& n, std::string_view at, failure& f) {
  address_parts p;
  p.kind = n.kind;
  p.path = at;
  std::vector<address> out{detail::access::make<address>(std::move(p))};
  raw_address raw;
  if (to_raw(out[0], AF_UNIX, raw)) return out;
  f = invalid("invalid or too long unix socket path");
  return {};
}

// An address without a name in it: a literal, or this machine.
std::vector<address> without_name(const network_name& n, address_parts literal, purpose what,
                                  std::uint16_t port) {
  std::vector<address> out;
  if (literal.ip != 0) {
    literal.kind = n.kind;
    literal.port = port;
    if (n.ip == 0 || n.ip == literal.ip)
      out.push_back(detail::access::make<address>(std::move(literal)));
  } else if (what == purpose::dial) {
    push_ip(out, n, "127.0.0.1", port);
    push_ip(out, n, "::1", port);
  } else {
    push_ip(out, n, "::", port);
    push_ip(out, n, "0.0.0.0", port);
  }
  return out;
}

std::vector<address> find_ip(const network_name& n, std::string_view network, std::string_view at,
                             purpose what, const patience& p, failure& f) {
  std::string_view host, port;
  if (const char* const wrong = split_host_port(at, host, port)) {
    f = invalid("address " + std::string(at) + ": " + wrong);
    return {};
  }
  std::uint16_t number = 0;
  const bool numeric = parse_port(port, number);
  if (!numeric && port.find_first_not_of("0123456789") == std::string_view::npos) {
    f = invalid("address " + std::string(at) + ": invalid port");
    return {};
  }
  address_parts literal;
  const bool has_name = !host.empty() && !parse_ip(host, literal);
  if (has_name || !numeric) {
    lookup_answer a = ask_threads(n, network, has_name ? host : std::string_view(), port, p);
    f = std::move(a.why);
    if (f || has_name) return std::move(a.found);
    number = a.found.front().port();
  }
  auto out = without_name(n, std::move(literal), what, number);
  if (out.empty()) f = invalid("address " + std::string(host) + ": no suitable address found");
  return out;
}

}  // namespace

// Waits for the job for as long as the caller's patience lasts.
failure wait_for_answer(name_job& job, const std::string& name, const patience& p) {
  const context never;
  const context& ctx = p.ctx != nullptr ? *p.ctx : never;
  const std::size_t came =
      p.deadline == kNeverNs
          ? select(on_recv(job.answer), on_done(ctx))
          : select(on_recv(job.answer), on_done(ctx),
                   on_after(from_ns(p.deadline) - from_ns(os::now_ns())));
  if (came == 0) return std::move(job.why());
  failure f;
  f.code = p.over();
  if (!f.code) f.code = errc::deadline_exceeded;
  f.what = "lookup " + name + ": " + message_of(f.code);
  return f;
}

std::error_code patience::over() const noexcept {
  if (ctx != nullptr)
    if (const std::error_code e = error_of(access::node(*ctx))) return e;
  if (deadline != kNeverNs && deadline <= os::now_ns()) return errc::deadline_exceeded;
  return {};
}

std::vector<address> find_addresses(const network_name& n, std::string_view network,
                                    std::string_view at, purpose what, const patience& p,
                                    failure& f) {
  if (n.kind == transport::none) {
    f = {std::make_error_code(std::errc::protocol_not_supported),
         "unknown network " + std::string(network),
         {}};
    return {};
  }
  return n.is_ip() ? find_ip(n, network, at, what, p, f) : find_unix(n, at, f);
}

}  // namespace detail

namespace net {
namespace {

std::vector<address> find(std::string_view network, std::string_view at, const detail::patience& p,
                          detail::failure& f) {
  detail::end_if_left_behind();
  f.code = p.over();
  if (f) return {};
  return detail::find_addresses(detail::find_network(network), network, at, detail::purpose::dial,
                                p, f);
}

}  // namespace

std::vector<address> resolve(std::string_view network, std::string_view at, const context& ctx,
                             std::error_code& error) {
  detail::failure f;
  auto found = find(network, at, detail::patience::of(ctx), f);
  error = f.code;
  return found;
}
std::vector<address> resolve(std::string_view network, std::string_view at,
                             std::error_code& error) {
  detail::failure f;
  auto found = find(network, at, {}, f);
  error = f.code;
  return found;
}
std::vector<address> resolve(std::string_view network, std::string_view at, const context& ctx) {
  detail::failure f;
  auto found = find(network, at, detail::patience::of(ctx), f);
  if (f) detail::throw_net("resolve " + std::string(network), f);
  return found;
}
std::vector<address> resolve(std::string_view network, std::string_view at) {
  return resolve(network, at, context::background());
}

}  // namespace net
}  // namespace v0
}  // namespace vole
