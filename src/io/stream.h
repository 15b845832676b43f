// One read and one write of a user's stream, whose results are checked.
//
// Who    src/io, in user context.
#pragma once

#include <vole/detail/left_behind.h>
#include <vole/io.h>

#include "base/fatal.h"
#include "net/errors.h"

namespace vole {
inline namespace v0 {
namespace detail {

// 0: the end, or an error.
inline std::size_t read_some(const byte_source& from, std::span<std::byte> to, const context* ctx,
                             std::error_code& error) {
  error = ctx != nullptr ? ctx->err() : std::error_code();
  if (error) return 0;
  const std::size_t n = from.read(from.object, to, ctx, error);
  if (n > to.size())
    base::fatal(
        "io: a reader's read() returned more than it had room for. It returns how many bytes it has "
        "written into the span, at most its size");
  return error ? 0 : n;
}

// All of it; on error, how much.
inline std::size_t write_all(const byte_sink& to, std::span<const std::byte> from,
                             const context* ctx, std::error_code& error) {
  error = ctx != nullptr ? ctx->err() : std::error_code();
  std::size_t done = 0;
  while (done < from.size() && !error) {
    const std::size_t n = to.write(to.object, from.subspan(done), ctx, error);
    if (n > from.size() - done)
      base::fatal(
          "io: a writer's write() returned more than it was given. It returns how many bytes of the "
          "span it has taken");
    if (n == 0 && !error) error = std::make_error_code(std::errc::io_error);
    done += n;
  }
  return done;
}

// work(error), whose error goes where the caller wants it: into an error_code, or it is thrown.
template <class Work>
auto reported(const char* operation, const io_ending& last, Work work) {
  end_if_left_behind();
  std::error_code error;
  const auto result = work(error);
  if (last.error != nullptr) {
    *last.error = error;
  } else if (error) {
    throw_net(operation, error);
  }
  return result;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
