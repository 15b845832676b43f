// The system calls of this room: each returns what the kernel said, as a value.
//
// Who    src/file. calls.cc is the one file here that reads errno.
// Law    EINTR is tried again here and never seen. An offset of -1 is the file's position.
#pragma once

#include <sys/stat.h>

#include "net/calls.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace file_calls {

using calls::result;

result open(const char* path, int flags, mode_t permissions) noexcept;
// Without waiting for the disk. EAGAIN: it would have to; EOPNOTSUPP: this file system never can.
result read_now(int fd, void* to, std::size_t n, std::int64_t offset) noexcept;
result write_now(int fd, const void* from, std::size_t n, std::int64_t offset) noexcept;
result read(int fd, void* to, std::size_t n, std::int64_t offset) noexcept;
result write(int fd, const void* from, std::size_t n, std::int64_t offset) noexcept;
result seek(int fd, std::int64_t to, int whence) noexcept;
result sync(int fd) noexcept;
result resize(int fd, std::int64_t bytes) noexcept;
result look(int fd, struct ::stat& into) noexcept;
result flags(int fd) noexcept;

}  // namespace file_calls
}  // namespace detail
}  // namespace v0
}  // namespace vole
