#include "os/file.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "os/linux/interrupted.h"

namespace vole::os::file {
namespace {

result read(int fd, void* to, std::size_t n, std::int64_t offset, int how) noexcept {
  const iovec part{to, n};
  return again_if_interrupted([&] { return ::preadv2(fd, &part, 1, offset, how); });
}
result write(int fd, const void* from, std::size_t n, std::int64_t offset, int how) noexcept {
  const iovec part{const_cast<void*>(from), n};
  return again_if_interrupted([&] { return ::pwritev2(fd, &part, 1, offset, how); });
}

}  // namespace

result open(const char* path, int flags, mode_t permissions) noexcept {
  return again_if_interrupted([=] { return ::open(path, flags | O_CLOEXEC, permissions); });
}
result read_now(int fd, void* to, std::size_t n, std::int64_t offset) noexcept {
  return read(fd, to, n, offset, RWF_NOWAIT);
}
result write_now(int fd, const void* from, std::size_t n, std::int64_t offset) noexcept {
  return write(fd, from, n, offset, RWF_NOWAIT);
}
result read(int fd, void* to, std::size_t n, std::int64_t offset) noexcept {
  return read(fd, to, n, offset, 0);
}
result write(int fd, const void* from, std::size_t n, std::int64_t offset) noexcept {
  return write(fd, from, n, offset, 0);
}
result seek(int fd, std::int64_t to, int whence) noexcept {
  return again_if_interrupted([=] { return ::lseek(fd, to, whence); });
}
result sync(int fd) noexcept {
  return again_if_interrupted([=] { return ::fsync(fd); });
}
result resize(int fd, std::int64_t bytes) noexcept {
  return again_if_interrupted([=] { return ::ftruncate(fd, bytes); });
}
result look(int fd, struct ::stat& into) noexcept {
  return again_if_interrupted([&] { return ::fstat(fd, &into); });
}
result flags(int fd) noexcept {
  return again_if_interrupted([=] { return ::fcntl(fd, F_GETFL); });
}

}  // namespace vole::os::file
