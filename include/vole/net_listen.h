// Servers: net::listen, net::listener, net::listen_packet. Included by vole/net.h.
#pragma once

#include <string_view>
#include <system_error>

#include <vole/context.h>
#include <vole/net_conn.h>
#include <vole/net_options.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace net {

class listener : public detail::net_handle {
 public:
  listener() noexcept = default;  // empty
  // Adopts a socket that listens, as conn(fd) does: socket activation. Anything else is refused.
  explicit listener(int fd);
  listener(int fd, std::error_code& error);

  // Waits for a connection. If the process has no descriptors left (EMFILE, ENFILE) or the kernel
  // no memory, it waits, 5 ms and twice as long each time up to a second, and tries again; the twin
  // waits once and reports it.
  [[nodiscard]] conn accept();
  [[nodiscard]] conn accept(std::error_code& error);
  [[nodiscard]] conn accept(const context& ctx);
  [[nodiscard]] conn accept(const context& ctx, std::error_code& error);

 private:
  friend struct detail::access;
  explicit listener(detail::endpoint* owned) noexcept : net_handle(owned) {}
};

// ":80": every address of this machine, IPv6 and IPv4. Port 0: a free one, see local_address(). A
// unix listener removes its file when it is closed.
[[nodiscard]] listener listen(std::string_view network, std::string_view at,
                              const listen_options& options = {});
[[nodiscard]] listener listen(std::string_view network, std::string_view at,
                              std::error_code& error);
[[nodiscard]] listener listen(std::string_view network, std::string_view at,
                              const listen_options& options, std::error_code& error);
[[nodiscard]] packet_conn listen_packet(std::string_view network, std::string_view at,
                                        const listen_options& options = {});
[[nodiscard]] packet_conn listen_packet(std::string_view network, std::string_view at,
                                        std::error_code& error);
[[nodiscard]] packet_conn listen_packet(std::string_view network, std::string_view at,
                                        const listen_options& options, std::error_code& error);

}  // namespace net
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
