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

// A reader_like or writer_like object, without its type.
struct byte_source {
  void* object;
  std::size_t (*read)(void* object, std::span<std::byte> to, std::error_code& error);
};
struct byte_sink {
  void* object;
  std::size_t (*write)(void* object, std::span<const std::byte> from, std::error_code& error);
};

template <io::reader_like R>
byte_source source_of(R& r) noexcept {
  return {&r, [](void* object, std::span<std::byte> to, std::error_code& error) -> std::size_t {
            return static_cast<R*>(object)->read(to, error);
          }};
}
template <io::writer_like W>
byte_sink sink_of(W& w) noexcept {
  return {&w,
          [](void* object, std::span<const std::byte> from, std::error_code& error) -> std::size_t {
            return static_cast<W*>(object)->write(from, error);
          }};
}

// How far a copy came.
struct copied {
  std::uint64_t bytes = 0;  // have arrived
  std::error_code read_error, write_error;
  bool failed() const noexcept { return read_error || write_error; }
};

void copy_bytes(byte_sink to, byte_source from, copied& c);
void copy_conns(net::conn& to, net::conn& from, copied& c);
void copy_file(net::conn& to, int file, copied& c);
void copy_file(net::conn& to, file& from, copied& c);
void read_everything(byte_source from, std::size_t limit, std::string& to, std::error_code& error);
[[noreturn]] void throw_io(const char* operation, const std::error_code& error);
[[noreturn]] void throw_copy_error(const copied& c);

// The kernel moves the bytes. False: it cannot, with these two. Go on by reading and writing: what
// has been taken from the source so far has arrived.
struct kernel_copy {
  static bool splice(net::conn& to, net::conn& from, copied& c) noexcept;
  static bool send_file(net::conn& to, int file, copied& c) noexcept;
};
struct file_copy {
  static bool to_conn(net::conn& to, file& from, copied& c);
};
// A file that the kernel does not send: parks until it can be read.
std::size_t read_descriptor(int file, std::span<std::byte> to, std::error_code& error);

}  // namespace detail
}  // namespace v0
}  // namespace vole
