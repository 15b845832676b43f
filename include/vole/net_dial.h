// Clients: net::dial, net::resolve, net::lookup_addr, net::lookup_srv. Included by vole/net.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <vole/context.h>
#include <vole/detail/time.h>
#include <vole/net_conn.h>
#include <vole/net_options.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace net {

// Several addresses are tried in turn, IPv6 and IPv4 a little apart at the same time (RFC 8305).
[[nodiscard]] conn dial(std::string_view network, std::string_view at);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, const context& ctx);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, detail::any_duration most);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, const dial_options& options);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, std::error_code& error);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, const context& ctx,
                        std::error_code& error);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, detail::any_duration most,
                        std::error_code& error);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, const dial_options& options,
                        std::error_code& error);

// Every address of that name, best first. getaddrinfo looks names up, on threads of its own.
[[nodiscard]] std::vector<address> resolve(std::string_view network, std::string_view at);
[[nodiscard]] std::vector<address> resolve(std::string_view network, std::string_view at,
                                           const context& ctx);
[[nodiscard]] std::vector<address> resolve(std::string_view network, std::string_view at,
                                           std::error_code& error);
[[nodiscard]] std::vector<address> resolve(std::string_view network, std::string_view at,
                                           const context& ctx, std::error_code& error);

// The names of a literal address ("192.0.2.1", "2001:db8::1", "fe80::1%eth0"). None:
// errc::no_such_host.
[[nodiscard]] std::vector<std::string> lookup_addr(std::string_view ip);
[[nodiscard]] std::vector<std::string> lookup_addr(std::string_view ip, const context& ctx);
[[nodiscard]] std::vector<std::string> lookup_addr(std::string_view ip, std::error_code& error);
[[nodiscard]] std::vector<std::string> lookup_addr(std::string_view ip, const context& ctx,
                                                   std::error_code& error);

// Where a service is to be had.
struct srv {
  std::string target;  // without a dot at its end
  std::uint16_t port = 0;
  std::uint16_t priority = 0, weight = 0;
  friend bool operator==(const srv&, const srv&) = default;
};

// The SRV records of _service._protocol.name (of name itself if both are empty), in the order in which
// they are to be tried: by priority, and within one at random by weight (RFC 2782). None:
// errc::no_such_host.
[[nodiscard]] std::vector<srv> lookup_srv(std::string_view service, std::string_view protocol,
                                          std::string_view name);
[[nodiscard]] std::vector<srv> lookup_srv(std::string_view service, std::string_view protocol,
                                          std::string_view name, const context& ctx);
[[nodiscard]] std::vector<srv> lookup_srv(std::string_view service, std::string_view protocol,
                                          std::string_view name, std::error_code& error);
[[nodiscard]] std::vector<srv> lookup_srv(std::string_view service, std::string_view protocol,
                                          std::string_view name, const context& ctx,
                                          std::error_code& error);

}  // namespace net
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
