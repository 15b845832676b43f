// Clients: net::dial, net::resolve. Included by vole/net.h.
#pragma once

#include <string_view>
#include <system_error>
#include <vector>

#include <vole/context.h>
#include <vole/detail/time.h>
#include <vole/net_conn.h>
#include <vole/net_options.h>

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

}  // namespace net
}  // namespace v0
}  // namespace vole
