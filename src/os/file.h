// The contract with the operating system for files on disks: each call returns what the kernel said,
// as a value.
//
// Who    file.
// Law    EINTR is tried again here and never seen. An offset of -1 is the file's position.
#pragma once

#include <sys/stat.h>

#include "os/result.h"

namespace vole::os::file {

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

}  // namespace vole::os::file
