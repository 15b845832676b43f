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

void copy_bytes(byte_sink to, byte_source from, const context* ctx, copied& c) {
  end_if_left_behind();
  std::byte buffer[8192];
  while (const std::size_t n = read_some(from, buffer, ctx, c.read_error)) {
    c.bytes += write_all(to, {buffer, n}, ctx, c.write_error);
    if (c.write_error) return;
  }
}

void copy_conns(net::conn& to, net::conn& from, const context* ctx, copied& c) {
  end_if_left_behind();
  if (!kernel_copy::splice(to, from, ctx, c)) copy_bytes(sink_of(to), source_of(from), ctx, c);
}

void copy_file(net::conn& to, int file, const context* ctx, copied& c) {
  end_if_left_behind();
  if (kernel_copy::send_file(to, file, ctx, c)) return;
  const byte_source by_hand{&file, [](void* object, std::span<std::byte> into, const context* by,
                                      std::error_code& error) -> std::size_t {
                              return read_descriptor(*static_cast<int*>(object), into, by, error);
                            }};
  copy_bytes(sink_of(to), by_hand, ctx, c);
}

void copy_file(net::conn& to, file& from, const context* ctx, copied& c) {
  end_if_left_behind();
  if (!file_copy::to_conn(to, from, ctx, c)) copy_bytes(sink_of(to), source_of(from), ctx, c);
}

std::uint64_t conclude_copy(const copied& c, const copy_ending& last) {
  const bool is_sink = static_cast<bool>(c.write_error);
  const std::error_code& code = is_sink ? c.write_error : c.read_error;
  if (last.write_error != nullptr) {
    *last.error = c.read_error;
    *last.write_error = c.write_error;
  } else if (last.error != nullptr) {
    *last.error = code;
  } else if (code) {
    throw io::copy_error(code, is_sink ? io::copy_side::sink : io::copy_side::source, c.bytes,
                         (is_sink ? "copy: write: " : "copy: read: ") + message_of(code));
  }
  return c.bytes;
}

std::string read_everything(byte_source from, std::size_t limit, const io_ending& last) {
  constexpr std::size_t kFirst = 4096;
  return reported("read all", last, [&](std::error_code& error) {
    std::string to;
    std::size_t done = 0;
    for (;;) {
      if (done == to.size()) {
        // One more than the limit: whether there is more shows only if there is room for it.
        const std::size_t most = limit < to.max_size() ? limit + 1 : to.max_size();
        if (done == most) break;
        to.resize(std::min(most, std::max(kFirst, 2 * done)));
      }
      const std::size_t n =
          read_some(from, std::as_writable_bytes(std::span(to).subspan(done)), last.ctx, error);
      if (n == 0) break;
      done += n;
    }
    if (!error && done > limit) error = errc::too_long;
    to.resize(std::min(done, limit));
    return to;
  });
}

}  // namespace detail

namespace io {

copy_error::copy_error(const std::error_code& code, copy_side side, std::uint64_t bytes,
                       std::string what)
    : std::system_error(code, what), side_(side), bytes_(bytes), what_(std::move(what)) {}

}  // namespace io
}  // namespace v0
}  // namespace vole
