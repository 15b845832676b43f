// include/vole/io.h: copy and read_all.
//
// Note   the buffer is on the stack: one on the heap would be lost with a goroutine that is
//        abandoned when the runtime ends. It is small, since stacks may be.

#include <algorithm>

#include "io/stream.h"
#include "net/errors.h"

namespace vole {
inline namespace v0 {
namespace detail {

void copy_bytes(byte_sink to, byte_source from, copied& c) {
  std::byte buffer[8192];
  while (const std::size_t n = read_some(from, buffer, c.read_error)) {
    c.bytes += write_all(to, {buffer, n}, c.write_error);
    if (c.write_error) return;
  }
}

void copy_conns(net::conn& to, net::conn& from, copied& c) {
  if (!kernel_copy::splice(to, from, c)) copy_bytes(sink_of(to), source_of(from), c);
}

void copy_file(net::conn& to, int file, copied& c) {
  if (kernel_copy::send_file(to, file, c)) return;
  const byte_source by_hand{
      &file, [](void* object, std::span<std::byte> into, std::error_code& error) -> std::size_t {
        return read_descriptor(*static_cast<int*>(object), into, error);
      }};
  copy_bytes(sink_of(to), by_hand, c);
}

void copy_file(net::conn& to, file& from, copied& c) {
  if (!file_copy::to_conn(to, from, c)) copy_bytes(sink_of(to), source_of(from), c);
}

void read_everything(byte_source from, std::size_t limit, std::string& to, std::error_code& error) {
  constexpr std::size_t kFirst = 4096;
  std::size_t done = 0;
  for (;;) {
    if (done == to.size()) {
      // One more than the limit: whether there is more shows only if there is room for it.
      const std::size_t most = limit < to.max_size() ? limit + 1 : to.max_size();
      if (done == most) break;
      to.resize(std::min(most, std::max(kFirst, 2 * done)));
    }
    const std::size_t n =
        read_some(from, std::as_writable_bytes(std::span(to).subspan(done)), error);
    if (n == 0) break;
    done += n;
  }
  if (!error && done > limit) error = errc::too_long;
  to.resize(std::min(done, limit));
}

void throw_io(const char* operation, const std::error_code& error) { throw_net(operation, error); }

void throw_copy_error(const copied& c) {
  const bool is_sink = static_cast<bool>(c.write_error);
  const std::error_code& code = is_sink ? c.write_error : c.read_error;
  throw io::copy_error(code, is_sink ? io::copy_side::sink : io::copy_side::source, c.bytes,
                       (is_sink ? "copy: write: " : "copy: read: ") + message_of(code));
}

}  // namespace detail

namespace io {

copy_error::copy_error(const std::error_code& code, copy_side side, std::uint64_t bytes,
                       std::string what)
    : std::system_error(code, what), side_(side), bytes_(bytes), what_(std::move(what)) {}

std::uint64_t copy(net::conn& to, int file, std::error_code& read_error,
                   std::error_code& write_error) {
  detail::copied c;
  detail::copy_file(to, file, c);
  read_error = c.read_error;
  write_error = c.write_error;
  return c.bytes;
}
std::uint64_t copy(net::conn& to, int file, std::error_code& error) {
  std::error_code write_error;
  const std::uint64_t n = copy(to, file, error, write_error);
  if (write_error) error = write_error;
  return n;
}
std::uint64_t copy(net::conn& to, int file) {
  detail::copied c;
  detail::copy_file(to, file, c);
  if (c.failed()) detail::throw_copy_error(c);
  return c.bytes;
}

}  // namespace io
}  // namespace v0
}  // namespace vole
