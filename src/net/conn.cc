// include/vole/net.h: reading and writing.

#include <climits>

#include <vole/net.h>

#include "net/endpoint.h"
#include "net/transfer.h"

namespace vole {
inline namespace v0 {
namespace net {
namespace {

using detail::endpoint;
using detail::named;
using detail::turn;
using detail::until_done;
using detail::way;

constexpr std::size_t kMostAtOnce = 1 << 30;
constexpr std::size_t kMostParts = 64;  // for one call

std::size_t clip(std::size_t n) noexcept { return n < kMostAtOnce ? n : kMostAtOnce; }

std::size_t read_turn(endpoint& e, std::span<std::byte> to, const context* ctx,
                      std::error_code& error) noexcept {
  if (to.empty()) return 0;
  const std::size_t wanted = clip(to.size());
  const std::int64_t n = until_done(
      e, way::in, error, [&](int fd) { return os::net::read(fd, to.data(), wanted); }, e.drained(),
      ctx);
  e.has_given(n, wanted);
  return static_cast<std::size_t>(n);
}

os::result write_parts(const endpoint& e, int fd, const iovec* parts, int n) noexcept {
  if (!e.is_socket()) return os::net::write(fd, parts, n);
  if (n == 1) return os::net::send(fd, parts->iov_base, parts->iov_len);
  return os::net::send_parts(fd, parts, n);
}

// Buffers that are being written, from `at` bytes into the first on.
struct written {
  std::span<const const_buffer> rest;
  std::size_t at = 0;

  int collect(iovec (&into)[kMostParts]) const noexcept {
    std::size_t n = 0, skip = at, bytes = 0;
    for (const const_buffer& b : rest) {
      if (n == kMostParts || bytes >= kMostAtOnce) break;
      const const_buffer left = b.subspan(skip);
      skip = 0;
      const std::size_t size = clip(left.size());
      if (size == 0) continue;
      into[n++] = {const_cast<std::byte*>(left.data()), size};
      bytes += size;
      if (size < left.size()) break;
    }
    return static_cast<int>(n);
  }
  void advance(std::size_t n) noexcept {
    while (!rest.empty() && n >= rest.front().size() - at) {
      n -= rest.front().size() - at;
      rest = rest.subspan(1);
      at = 0;
    }
    at += n;
  }
};

std::size_t write_turn(endpoint& e, std::span<const const_buffer> parts, const context* ctx,
                       std::error_code& error) noexcept {
  written w{parts};
  std::size_t done = 0;
  do {
    iovec into[kMostParts];
    const int n = w.collect(into);
    if (n == 0 && e.kind.is_stream) return done;
    if (n == 0) into[0] = {};  // an empty datagram
    const std::int64_t now = until_done(
        e, way::out, error, [&](int fd) { return write_parts(e, fd, into, n == 0 ? 1 : n); }, false,
        ctx);
    if (error) return done;
    done += static_cast<std::size_t>(now);
    w.advance(static_cast<std::size_t>(now));
  } while (e.kind.is_stream);
  return done;
}

// Writes one buffer, the common case. It does without the kilobyte of stack for several parts, which
// would be a cold page in each of many goroutines.
std::size_t write_one(endpoint& e, const_buffer from, const context* ctx,
                      std::error_code& error) noexcept {
  std::size_t done = 0;
  if (from.empty() && e.kind.is_stream) return 0;
  do {
    const iovec part{const_cast<std::byte*>(from.data()) + done, clip(from.size() - done)};
    done += static_cast<std::size_t>(until_done(
        e, way::out, error, [&](int fd) { return write_parts(e, fd, &part, 1); }, false, ctx));
  } while (!error && e.kind.is_stream && done < from.size());
  return done;
}

// ── with a context, which may be null ──

std::size_t read_some(endpoint* e, std::span<std::byte> to, const context* ctx,
                      std::error_code& error) noexcept {
  detail::end_if_left_behind();
  const turn mine(e, way::in, ctx, error);
  return mine ? read_turn(*e, to, ctx, error) : 0;
}

std::size_t read_all(endpoint* e, std::span<std::byte> to, const context* ctx,
                     std::error_code& error) noexcept {
  detail::end_if_left_behind();
  const turn mine(e, way::in, ctx, error);
  std::size_t done = 0;
  while (mine && done < to.size()) {
    const std::size_t n = read_turn(*e, to.subspan(done), ctx, error);
    if (n == 0) break;
    done += n;
  }
  return done;
}

std::size_t write_all(endpoint* e, std::span<const std::byte> from, const context* ctx,
                      std::error_code& error) noexcept {
  detail::end_if_left_behind();
  const turn mine(e, way::out, ctx, error);
  return mine ? write_one(*e, from, ctx, error) : 0;
}

std::size_t write_all(endpoint* e, std::span<const const_buffer> parts, const context* ctx,
                      std::error_code& error) noexcept {
  detail::end_if_left_behind();
  const turn mine(e, way::out, ctx, error);
  return mine ? write_turn(*e, parts, ctx, error) : 0;
}

void shut_down(endpoint* e, int ways) noexcept {
  {
    const detail::using_file here(e);
    if (here) os::net::shut_down(e->fd(), ways);
  }
  detail::end_if_left_behind();
}

// Or throws.
template <class Bytes>
std::size_t must(std::size_t (*what)(endpoint*, Bytes, const context*, std::error_code&) noexcept,
                 const char* name, endpoint* e, Bytes bytes, const context* ctx) {
  std::error_code error;
  const std::size_t n = what(e, bytes, ctx, error);
  if (error) detail::throw_net(named(name, e), error);
  return n;
}

}  // namespace

using bytes = std::span<std::byte>;
using parts = std::span<const const_buffer>;

std::size_t conn::read(bytes to) { return must<bytes>(&read_some, "read", end_, to, nullptr); }
std::size_t conn::read(bytes to, std::error_code& error) noexcept {
  detail::end_if_left_behind();
  const turn mine(end_, way::in, error);
  return mine ? read_turn(*end_, to, nullptr, error) : 0;
}
std::size_t conn::read(bytes to, const context& ctx) {
  return must<bytes>(&read_some, "read", end_, to, &ctx);
}
std::size_t conn::read(bytes to, const context& ctx, std::error_code& error) noexcept {
  return read_some(end_, to, &ctx, error);
}

std::size_t conn::read_full(bytes to) { return must<bytes>(&read_all, "read", end_, to, nullptr); }
std::size_t conn::read_full(bytes to, std::error_code& error) noexcept {
  return read_all(end_, to, nullptr, error);
}
std::size_t conn::read_full(bytes to, const context& ctx) {
  return must<bytes>(&read_all, "read", end_, to, &ctx);
}
std::size_t conn::read_full(bytes to, const context& ctx, std::error_code& error) noexcept {
  return read_all(end_, to, &ctx, error);
}

std::size_t conn::write(const_buffer from) {
  return must<const_buffer>(&write_all, "write", end_, from, nullptr);
}
std::size_t conn::write(const_buffer from, std::error_code& error) noexcept {
  detail::end_if_left_behind();
  const turn mine(end_, way::out, error);
  return mine ? write_one(*end_, from, nullptr, error) : 0;
}
std::size_t conn::write(const_buffer from, const context& ctx) {
  return must<const_buffer>(&write_all, "write", end_, from, &ctx);
}
std::size_t conn::write(const_buffer from, const context& ctx, std::error_code& error) noexcept {
  return write_all(end_, from, &ctx, error);
}

std::size_t conn::write(parts from) {
  return must<parts>(&write_all, "write", end_, from, nullptr);
}
std::size_t conn::write(parts from, std::error_code& error) noexcept {
  return write_all(end_, from, nullptr, error);
}
std::size_t conn::write(parts from, const context& ctx) {
  return must<parts>(&write_all, "write", end_, from, &ctx);
}
std::size_t conn::write(parts from, const context& ctx, std::error_code& error) noexcept {
  return write_all(end_, from, &ctx, error);
}

namespace {

std::uint64_t send_whole(endpoint* e, int file, std::uint64_t offset, std::uint64_t count,
                         const context* ctx, std::error_code& error) noexcept {
  detail::end_if_left_behind();
  const turn mine(e, way::out, ctx, error);
  if (!mine) return 0;
  if (offset > INT64_MAX) {
    error = std::make_error_code(std::errc::invalid_argument);
    return 0;
  }
  auto from = static_cast<std::int64_t>(offset);
  std::uint64_t done = 0;
  while (done < count) {
    const std::size_t most = clip(count - done);
    const std::int64_t n = until_done(
        *e, way::out, error, [&](int fd) { return os::net::send_file(fd, file, &from, most); },
        false, ctx);
    if (n == 0) break;  // the file's end, or an error
    done += static_cast<std::uint64_t>(n);
  }
  return done;
}

std::uint64_t send_or_throw(endpoint* e, int file, std::uint64_t offset, std::uint64_t count,
                            const context* ctx) {
  std::error_code error;
  const std::uint64_t n = send_whole(e, file, offset, count, ctx, error);
  if (error) detail::throw_net(named("send file", e), error);
  return n;
}

}  // namespace

std::uint64_t conn::send_file(int file, std::uint64_t offset, std::uint64_t count) {
  return send_or_throw(end_, file, offset, count, nullptr);
}
std::uint64_t conn::send_file(int file, std::uint64_t offset, std::uint64_t count,
                              std::error_code& error) noexcept {
  return send_whole(end_, file, offset, count, nullptr, error);
}
std::uint64_t conn::send_file(int file, std::uint64_t offset, std::uint64_t count,
                              const context& ctx) {
  return send_or_throw(end_, file, offset, count, &ctx);
}
std::uint64_t conn::send_file(int file, std::uint64_t offset, std::uint64_t count,
                              const context& ctx, std::error_code& error) noexcept {
  return send_whole(end_, file, offset, count, &ctx, error);
}

void conn::close_write() const noexcept { shut_down(end_, SHUT_WR); }
void conn::close_read() const noexcept { shut_down(end_, SHUT_RD); }
address conn::remote_address() const {
  detail::end_if_left_behind();
  return end_ != nullptr ? end_->remote : address();
}

}  // namespace net
}  // namespace v0
}  // namespace vole
