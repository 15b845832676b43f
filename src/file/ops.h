// One operation on an open file, whatever it takes: the door for other ways to reach the disk.
//
// Who    file.cc, with the file's lock or a reference. User context.
// Law    no P is held up: an operation that may wait for the disk is made in blocking().
// Law    an offset of -1 is the position.
#pragma once

#include <span>
#include <system_error>

#include "os/file.h"
#include "file/state.h"
#include "net/endpoint.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace file_ops {

// At least one byte; 0: the end, or an error.
std::size_t read(file_state& f, std::span<std::byte> to, std::int64_t offset,
                 std::error_code& error) noexcept;
// At least one byte, unless there is an error.
std::size_t write(file_state& f, std::span<const std::byte> from, std::int64_t offset,
                  std::error_code& error) noexcept;
std::uint64_t seek(file_state& f, std::int64_t to, int whence, std::error_code& error) noexcept;
void sync(file_state& f, std::error_code& error) noexcept;
void resize(file_state& f, std::uint64_t bytes, std::error_code& error) noexcept;
struct ::stat look(int fd, std::error_code& error) noexcept;
// Puts the descriptor into `into`, which must be a belonging: the runtime may end before this returns.
void open(const char* path, int flags, mode_t permissions, owned_fd& into,
          std::error_code& error) noexcept;
// Nothing if it is closed already. Those inside finish; the last one closes the descriptor.
void close(file_state& f, std::error_code& error) noexcept;

}  // namespace file_ops
}  // namespace detail
}  // namespace v0
}  // namespace vole
