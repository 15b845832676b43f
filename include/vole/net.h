// The network: tcp, udp and unix sockets, in the blocking style.
//
//     auto server = vole::net::listen("tcp", "127.0.0.1:8080");
//     for (;;) vole::go([c = server.accept()]() mutable {
//       char text[4096];
//       while (std::size_t n = c.read(text)) c.write({text, n});
//     });
//
// A goroutine that has to wait parks; a plain thread blocks (and starts the runtime, if none runs:
// somebody has to poll). Any goroutine may use a conn, listener or packet_conn at any time: reads
// queue behind reads, writes behind writes, and close() wakes everybody with errc::closed. Moving
// or destroying the object itself while others use it is, as ever, a race.
//
// What may fail throws std::system_error, whose what() is like "dial tcp 127.0.0.1:1: connection
// refused". Each has a twin with a last std::error_code& that does not throw it: cleared on
// success; on error the result is empty, or how much was done. Empty objects answer errc::closed.
// SIGPIPE is never raised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <vole/context.h>
#include <vole/detail/net_address.h>
#include <vole/detail/net_handle.h>
#include <vole/detail/time.h>
#include <vole/errors.h>

namespace vole {
inline namespace v0 {
namespace net {

using const_buffer = std::span<const std::byte>;

// A connection: tcp, unix, connected udp, or whatever file was adopted (pipe, terminal, serial
// line). Closes when it is destroyed.
class conn : public detail::net_handle {
 public:
  conn() noexcept = default;  // empty
  // Adopts fd and makes it non-blocking for as long as it has it. A file that cannot be polled (a
  // regular one) blocks the thread. On error fd remains the caller's.
  explicit conn(int fd);
  conn(int fd, std::error_code& error);
  explicit conn(detail::endpoint* owned) noexcept : net_handle(owned) {}  // vole's own

  // Waits for something to read; 0: the end (or room for nothing). A datagram's excess is lost.
  [[nodiscard]] std::size_t read(std::span<std::byte> to);
  [[nodiscard]] std::size_t read(std::span<char> to) { return read(std::as_writable_bytes(to)); }
  [[nodiscard]] std::size_t read(std::span<std::byte> to, std::error_code& error) noexcept;
  [[nodiscard]] std::size_t read(std::span<char> to, std::error_code& error) noexcept {
    return read(std::as_writable_bytes(to), error);
  }
  // All of it; fewer only at the end or on error.
  [[nodiscard]] std::size_t read_full(std::span<std::byte> to);
  [[nodiscard]] std::size_t read_full(std::span<char> to) {
    return read_full(std::as_writable_bytes(to));
  }
  [[nodiscard]] std::size_t read_full(std::span<std::byte> to, std::error_code& error) noexcept;
  [[nodiscard]] std::size_t read_full(std::span<char> to, std::error_code& error) noexcept {
    return read_full(std::as_writable_bytes(to), error);
  }

  // All of it, in one piece between other writes; on error, how much.
  std::size_t write(std::span<const std::byte> from);
  std::size_t write(std::string_view from) { return write(std::as_bytes(std::span(from))); }
  std::size_t write(std::span<const std::byte> from, std::error_code& error) noexcept;
  std::size_t write(std::string_view from, std::error_code& error) noexcept {
    return write(std::as_bytes(std::span(from)), error);
  }
  // Several buffers as if they were one; one datagram, where there are datagrams.
  std::size_t write(std::span<const const_buffer> parts);
  std::size_t write(std::span<const const_buffer> parts, std::error_code& error) noexcept;
  // `count` bytes of that file from `offset` on, fewer if it ends before. The file stays the
  // caller's, and is read by the kernel.
  std::uint64_t send_file(int file, std::uint64_t offset, std::uint64_t count);
  std::uint64_t send_file(int file, std::uint64_t offset, std::uint64_t count,
                          std::error_code& error) noexcept;

  void close_write() const noexcept;  // the peer reads the end
  void close_read() const noexcept;
  net::address remote_address() const;  // empty if there is none
};

class listener : public detail::net_handle {
 public:
  listener() noexcept = default;                                              // empty
  explicit listener(detail::endpoint* owned) noexcept : net_handle(owned) {}  // vole's own

  // Waits for a connection. If the process has no descriptors left (EMFILE, ENFILE) or the kernel
  // no memory, it waits, 5 ms and twice as long each time up to a second, and tries again; the twin
  // waits once and reports it.
  [[nodiscard]] conn accept();
  [[nodiscard]] conn accept(std::error_code& error);
};

// Datagrams from and to anybody.
class packet_conn : public detail::net_handle {
 public:
  packet_conn() noexcept = default;                                              // empty
  explicit packet_conn(detail::endpoint* owned) noexcept : net_handle(owned) {}  // vole's own

  // One datagram and who sent it; what does not fit is lost.
  [[nodiscard]] std::pair<std::size_t, address> read_from(std::span<std::byte> to);
  [[nodiscard]] std::pair<std::size_t, address> read_from(std::span<char> to) {
    return read_from(std::as_writable_bytes(to));
  }
  [[nodiscard]] std::pair<std::size_t, address> read_from(std::span<std::byte> to,
                                                          std::error_code& error);
  [[nodiscard]] std::pair<std::size_t, address> read_from(std::span<char> to,
                                                          std::error_code& error) {
    return read_from(std::as_writable_bytes(to), error);
  }
  std::size_t write_to(std::span<const std::byte> from, const address& to);
  std::size_t write_to(std::string_view from, const address& to) {
    return write_to(std::as_bytes(std::span(from)), to);
  }
  std::size_t write_to(std::span<const std::byte> from, const address& to, std::error_code& error);
  std::size_t write_to(std::string_view from, const address& to, std::error_code& error) {
    return write_to(std::as_bytes(std::span(from)), to, error);
  }
};

// network: "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6", "unix", "unixgram", "unixpacket".
// at: "host:port", where the port may be a name ("http") and the host a name, an address, or, for
// this machine, nothing; a unix socket's path, or "@name" for an abstract one.

// Several addresses are tried in turn, IPv6 and IPv4 a little apart at the same time (RFC 8305).
[[nodiscard]] conn dial(std::string_view network, std::string_view at);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, const context& ctx);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, duration most);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, std::error_code& error);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, const context& ctx,
                        std::error_code& error);
[[nodiscard]] conn dial(std::string_view network, std::string_view at, duration most,
                        std::error_code& error);

// ":80": every address of this machine, IPv6 and IPv4. Port 0: a free one, see local_address(). A
// unix listener removes its file when it is closed.
[[nodiscard]] listener listen(std::string_view network, std::string_view at);
[[nodiscard]] listener listen(std::string_view network, std::string_view at,
                              std::error_code& error);
[[nodiscard]] packet_conn listen_packet(std::string_view network, std::string_view at);
[[nodiscard]] packet_conn listen_packet(std::string_view network, std::string_view at,
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

// Waits until fd, which a C library opened, can be read or written without blocking, or has an
// error or its end to report. False: the time was over. If fd is closed meanwhile, its file is
// waited for all the same.
bool wait_readable(int fd, time_point until = time_point::max());
bool wait_readable(int fd, std::error_code& error);
bool wait_readable(int fd, time_point until, std::error_code& error);
bool wait_writable(int fd, time_point until = time_point::max());
bool wait_writable(int fd, std::error_code& error);
bool wait_writable(int fd, time_point until, std::error_code& error);

}  // namespace v0
}  // namespace vole
