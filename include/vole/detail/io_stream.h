// What io::reader, io::writer and io::copy need of the two ends. Users include vole/io.h.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>

#include <vole/file.h>
#include <vole/net.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace io {

// Bytes can be read from it, as from a net::conn: some, as soon as there are any; 0 at the end. On
// error `error` is set and nothing was read; else it is cleared.
template <class R>
concept reader_like = requires(R& r, std::span<std::byte> to, std::error_code& error) {
  { r.read(to, error) } -> std::convertible_to<std::size_t>;
};

// Bytes can be written to it, as to a net::conn: all of them; on error, as many as it returns.
template <class W>
concept writer_like = requires(W& w, std::span<const std::byte> from, std::error_code& error) {
  { w.write(from, error) } -> std::convertible_to<std::size_t>;
};

}  // namespace io

namespace detail {

// A reader_like or writer_like object, without its type. ctx may be null; one that is cancelled is
// asked for nothing. One whose read or write takes no context waits for as long as it likes.
struct byte_source {
  void* object;
  std::size_t (*read)(void* object, std::span<std::byte> to, const context* ctx,
                      std::error_code& error);
};
struct byte_sink {
  void* object;
  std::size_t (*write)(void* object, std::span<const std::byte> from, const context* ctx,
                       std::error_code& error);
};

template <io::reader_like R>
byte_source source_of(R& r) noexcept {
  return {&r, [](void* object, std::span<std::byte> to, const context* ctx,
                 std::error_code& error) -> std::size_t {
            R& mine = *static_cast<R*>(object);
            if constexpr (requires { mine.read(to, *ctx, error); }) {
              if (ctx != nullptr) return mine.read(to, *ctx, error);
            }
            return mine.read(to, error);
          }};
}
template <io::writer_like W>
byte_sink sink_of(W& w) noexcept {
  return {&w, [](void* object, std::span<const std::byte> from, const context* ctx,
                 std::error_code& error) -> std::size_t {
            W& mine = *static_cast<W*>(object);
            if constexpr (requires { mine.write(from, *ctx, error); }) {
              if (ctx != nullptr) return mine.write(from, *ctx, error);
            }
            return mine.write(from, error);
          }};
}

// What a caller said last: a context or none, an error_code or, to throw instead, none.
struct io_ending {
  const context* ctx = nullptr;
  std::error_code* error = nullptr;

  io_ending() noexcept = default;
  explicit io_ending(std::error_code& e) noexcept : error(&e) {}
  explicit io_ending(const context& c) noexcept : ctx(&c) {}
  io_ending(const context& c, std::error_code& e) noexcept : ctx(&c), error(&e) {}
};

// The same of a copy, which may tell its two ends apart.
struct copy_ending {
  const context* ctx = nullptr;
  std::error_code* error = nullptr;
  std::error_code* write_error = nullptr;

  copy_ending() noexcept = default;
  explicit copy_ending(const context& c) noexcept : ctx(&c) {}
  explicit copy_ending(std::error_code& e) noexcept : error(&e) {}
  copy_ending(const context& c, std::error_code& e) noexcept : ctx(&c), error(&e) {}
  copy_ending(std::error_code& r, std::error_code& w) noexcept : error(&r), write_error(&w) {}
  copy_ending(const context& c, std::error_code& r, std::error_code& w) noexcept
      : ctx(&c), error(&r), write_error(&w) {}
};
template <class... Last>
concept ends_a_copy = std::constructible_from<copy_ending, Last...>;

// How far a copy came.
struct copied {
  std::uint64_t bytes = 0;  // have arrived
  std::error_code read_error, write_error;
  bool failed() const noexcept { return read_error || write_error; }
};

void copy_bytes(byte_sink to, byte_source from, const context* ctx, copied& c);
void copy_conns(net::conn& to, net::conn& from, const context* ctx, copied& c);
void copy_file(net::conn& to, int file, const context* ctx, copied& c);
void copy_file(net::conn& to, file& from, const context* ctx, copied& c);
// Reports as asked for, or throws; or returns how many have arrived.
std::uint64_t conclude_copy(const copied& c, const copy_ending& last);
std::string read_everything(byte_source from, std::size_t limit, const io_ending& last);

// The kernel moves the bytes. False: it cannot, with these two. Go on by reading and writing: what
// has been taken from the source so far has arrived.
struct kernel_copy {
  static bool splice(net::conn& to, net::conn& from, const context* ctx, copied& c) noexcept;
  static bool send_file(net::conn& to, int file, const context* ctx, copied& c) noexcept;
};
struct file_copy {
  static bool to_conn(net::conn& to, file& from, const context* ctx, copied& c);
};
// A file that the kernel does not send: parks until it can be read.
std::size_t read_descriptor(int file, std::span<std::byte> to, const context* ctx,
                            std::error_code& error);

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
