// Connections: net::conn, net::packet_conn, net::pipe. Included by vole/net.h.
//
// Bytes are any contiguous range of char, unsigned char or std::byte: an array, std::array,
// std::vector, std::string, std::span, or {pointer, size}. An array of char that is written is text:
// it ends before its NUL, as a string literal does.
//
// Every call that waits takes a context as well: when that is done, the call ends with its error,
// errc::canceled or errc::deadline_exceeded, at once and for itself alone; the connection and its
// other users are not disturbed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <vole/context.h>
#include <vole/detail/net_address.h>
#include <vole/detail/net_bytes.h>
#include <vole/detail/net_handle.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace net {

// What write takes several of.
using const_buffer = std::span<const std::byte>;

// The process at the other end of a unix socket, as it was when the connection was made.
struct credentials {
  // The process, its user and its group.
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  friend bool operator==(const credentials&, const credentials&) = default;
};

// A connection: tcp, unix, connected udp, or whatever file was adopted (pipe, terminal, serial
// line). Closes when it is destroyed.
class conn : public detail::net_handle {
 public:
  conn() noexcept = default;  // empty
  // Adopts fd and makes it non-blocking for as long as it has it. A file that cannot be polled (a
  // regular one) blocks the thread. On error fd remains the caller's.
  explicit conn(int fd);
  conn(int fd, std::error_code& error);

  // Waits for something to read; 0: the end (or room for nothing). A datagram's excess is lost.
  [[nodiscard]] std::size_t read(std::span<std::byte> to);
  [[nodiscard]] std::size_t read(std::span<std::byte> to, std::error_code& error) noexcept;
  [[nodiscard]] std::size_t read(std::span<std::byte> to, const context& ctx);
  [[nodiscard]] std::size_t read(std::span<std::byte> to, const context& ctx,
                                 std::error_code& error) noexcept;
  template <class... Last>
  requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::size_t read(std::span<char> to, Last&&... last) {
    return read(std::as_writable_bytes(to), last...);
  }
  template <class... Last>
  requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::size_t read(std::span<unsigned char> to, Last&&... last) {
    return read(std::as_writable_bytes(to), last...);
  }
  template <detail::other_buffer R, class... Last>
  requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::size_t read(R&& to, Last&&... last) {
    return read(detail::buffer_of(to), last...);
  }

  template <detail::no_buffer R, class... Rest>
  std::size_t read(R&&, Rest&&...) = delete;  // read: into a range of bytes that is not const

  // All of it; fewer only at the end or on error.
  [[nodiscard]] std::size_t read_full(std::span<std::byte> to);
  [[nodiscard]] std::size_t read_full(std::span<std::byte> to, std::error_code& error) noexcept;
  [[nodiscard]] std::size_t read_full(std::span<std::byte> to, const context& ctx);
  [[nodiscard]] std::size_t read_full(std::span<std::byte> to, const context& ctx,
                                      std::error_code& error) noexcept;
  template <class... Last>
  requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::size_t read_full(std::span<char> to, Last&&... last) {
    return read_full(std::as_writable_bytes(to), last...);
  }
  template <class... Last>
  requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::size_t read_full(std::span<unsigned char> to, Last&&... last) {
    return read_full(std::as_writable_bytes(to), last...);
  }
  template <detail::other_buffer R, class... Last>
  requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::size_t read_full(R&& to, Last&&... last) {
    return read_full(detail::buffer_of(to), last...);
  }

  // All of it, in one piece between other writes; on error, how much.
  std::size_t write(std::span<const std::byte> from);
  std::size_t write(std::span<const std::byte> from, std::error_code& error) noexcept;
  std::size_t write(std::span<const std::byte> from, const context& ctx);
  std::size_t write(std::span<const std::byte> from, const context& ctx,
                    std::error_code& error) noexcept;
  template <class... Last>
  requires detail::ends_a_wait<Last...> std::size_t write(std::string_view from, Last&&... last) {
    return write(std::as_bytes(std::span(from)), last...);
  }
  template <class... Last>
  requires detail::ends_a_wait<Last...> std::size_t write(std::span<const unsigned char> from,
                                                          Last&&... last) {
    return write(std::as_bytes(from), last...);
  }
  template <detail::other_sequence R, class... Last>
  requires detail::ends_a_wait<Last...> std::size_t write(const R& from, Last&&... last) {
    return write(detail::bytes_of(from), last...);
  }
  template <detail::no_sequence R, class... Rest>
  std::size_t write(R&&, Rest&&...) = delete;  // write: text, or a range of char or std::byte
  // Several buffers as if they were one; one datagram, where there are datagrams.
  std::size_t write(std::span<const const_buffer> parts);
  std::size_t write(std::span<const const_buffer> parts, std::error_code& error) noexcept;
  std::size_t write(std::span<const const_buffer> parts, const context& ctx);
  std::size_t write(std::span<const const_buffer> parts, const context& ctx,
                    std::error_code& error) noexcept;
  // `count` bytes of that file from `offset` on, fewer if it ends before. The file stays the
  // caller's, and is read by the kernel.
  std::uint64_t send_file(int file, std::uint64_t offset, std::uint64_t count);
  std::uint64_t send_file(int file, std::uint64_t offset, std::uint64_t count,
                          std::error_code& error) noexcept;
  std::uint64_t send_file(int file, std::uint64_t offset, std::uint64_t count, const context& ctx);
  std::uint64_t send_file(int file, std::uint64_t offset, std::uint64_t count, const context& ctx,
                          std::error_code& error) noexcept;

  void close_write() const noexcept;  // the peer reads the end
  void close_read() const noexcept;
  net::address remote_address() const;  // empty if there is none

  // ── unix sockets ──

  // Sends descriptors (253 at most), which stay the caller's, together with one byte, a zero.
  void send_fds(std::span<const int> fds);
  void send_fds(std::span<const int> fds, std::error_code& error) noexcept;
  void send_fds(std::span<const int> fds, const context& ctx);
  void send_fds(std::span<const int> fds, const context& ctx, std::error_code& error) noexcept;
  template <class... Last>
  requires detail::ends_a_wait<Last...> void send_fds(std::initializer_list<int> fds,
                                                      Last&&... last) {
    send_fds(std::span<const int>(fds.begin(), fds.size()), last...);
  }
  // Reads one byte, and the descriptors that come with it: they are the caller's now, closed on
  // exec. Empty: the end, or a byte without any. If there are more than `most`, or more than the
  // process has room for, all are closed and the error is std::errc::message_size.
  [[nodiscard]] std::vector<int> recv_fds(std::size_t most = 253);
  [[nodiscard]] std::vector<int> recv_fds(std::size_t most, std::error_code& error);
  [[nodiscard]] std::vector<int> recv_fds(std::size_t most, const context& ctx);
  [[nodiscard]] std::vector<int> recv_fds(std::size_t most, const context& ctx,
                                          std::error_code& error);
  template <class First, class... Last>
  requires detail::ends_a_wait<First, Last...>
  [[nodiscard]] std::vector<int> recv_fds(First&& first, Last&&... last) {
    return recv_fds(std::size_t{253}, first, last...);
  }
  [[nodiscard]] credentials peer_credentials() const;
  [[nodiscard]] credentials peer_credentials(std::error_code& error) const noexcept;

 private:
  friend struct detail::access;
  explicit conn(detail::endpoint* owned) noexcept : net_handle(owned) {}
};

// Two ends of a connection within this process: unix sockets.
[[nodiscard]] std::pair<conn, conn> pipe();
[[nodiscard]] std::pair<conn, conn> pipe(std::error_code& error);

// Datagrams from and to anybody.
class packet_conn : public detail::net_handle {
 public:
  packet_conn() noexcept = default;  // empty
  // Adopts a socket of datagrams, as conn(fd) does. Anything else is refused.
  explicit packet_conn(int fd);
  packet_conn(int fd, std::error_code& error);

  // One datagram and its sender; the part that does not fit is lost.
  [[nodiscard]] std::pair<std::size_t, address> read_from(std::span<std::byte> to);
  [[nodiscard]] std::pair<std::size_t, address> read_from(std::span<std::byte> to,
                                                          std::error_code& error);
  [[nodiscard]] std::pair<std::size_t, address> read_from(std::span<std::byte> to,
                                                          const context& ctx);
  [[nodiscard]] std::pair<std::size_t, address> read_from(std::span<std::byte> to,
                                                          const context& ctx,
                                                          std::error_code& error);
  template <class... Last>
  requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::pair<std::size_t, address> read_from(std::span<char> to, Last&&... last) {
    return read_from(std::as_writable_bytes(to), last...);
  }
  template <class... Last>
  requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::pair<std::size_t, address> read_from(std::span<unsigned char> to,
                                                          Last&&... last) {
    return read_from(std::as_writable_bytes(to), last...);
  }
  template <detail::other_buffer R, class... Last>
  requires detail::ends_a_wait<Last...>
  [[nodiscard]] std::pair<std::size_t, address> read_from(R&& to, Last&&... last) {
    return read_from(detail::buffer_of(to), last...);
  }

  address remote_address() const;  // empty, unless it was adopted connected

  // Sends one datagram to that address: how many bytes of it were sent.
  std::size_t write_to(std::span<const std::byte> from, const address& to);
  std::size_t write_to(std::span<const std::byte> from, const address& to, std::error_code& error);
  std::size_t write_to(std::span<const std::byte> from, const address& to, const context& ctx);
  std::size_t write_to(std::span<const std::byte> from, const address& to, const context& ctx,
                       std::error_code& error);
  template <class... Last>
  requires detail::ends_a_wait<Last...> std::size_t write_to(std::string_view from,
                                                             const address& to, Last&&... last) {
    return write_to(std::as_bytes(std::span(from)), to, last...);
  }
  template <class... Last>
  requires detail::ends_a_wait<Last...> std::size_t write_to(std::span<const unsigned char> from,
                                                             const address& to, Last&&... last) {
    return write_to(std::as_bytes(from), to, last...);
  }
  template <detail::other_sequence R, class... Last>
  requires detail::ends_a_wait<Last...> std::size_t write_to(const R& from, const address& to,
                                                             Last&&... last) {
    return write_to(detail::bytes_of(from), to, last...);
  }

 private:
  friend struct detail::access;
  explicit packet_conn(detail::endpoint* owned) noexcept : net_handle(owned) {}
};

}  // namespace net
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
