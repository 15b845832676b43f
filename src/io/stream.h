// One read and one write of somebody's stream, held to their word.
//
// Who    src/io, in user context.
#pragma once

#include <vole/io.h>

#include "base/fatal.h"

namespace vole {
inline namespace v0 {
namespace detail {

// 0: the end, or an error.
inline std::size_t read_some(const byte_source& from, std::span<std::byte> to,
                             std::error_code& error) {
  error.clear();
  const std::size_t n = from.read(from.object, to, error);
  if (n > to.size())
    base::fatal(
        "io: a reader's read() returned more than it had room for. It returns how many bytes it has "
        "written into the span, at most its size");
  return error ? 0 : n;
}

// All of it; on error, how much.
inline std::size_t write_all(const byte_sink& to, std::span<const std::byte> from,
                             std::error_code& error) {
  error.clear();
  std::size_t done = 0;
  while (done < from.size() && !error) {
    const std::size_t n = to.write(to.object, from.subspan(done), error);
    if (n > from.size() - done)
      base::fatal(
          "io: a writer's write() returned more than it was given. It returns how many bytes of the "
          "span it has taken");
    if (n == 0 && !error) error = std::make_error_code(std::errc::io_error);
    done += n;
  }
  return done;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
