#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "os/linux/bare_calls.h"
#include "os/os.h"

namespace vole::os {

int create_file(const char* path, int* fd) noexcept {
  *fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return *fd >= 0 ? 0 : errno;
}

int write_file(int fd, const void* first, std::size_t first_bytes, const void* second,
               std::size_t second_bytes) noexcept {
  iovec parts[2] = {{const_cast<void*>(first), first_bytes},
                    {const_cast<void*>(second), second_bytes}};
  iovec* at = parts;
  int n = 2;
  while (n != 0) {
    const long wrote = bare::writev(fd, at, n);
    if (wrote == -EINTR) continue;
    if (wrote < 0) return static_cast<int>(-wrote);
    auto left = static_cast<std::size_t>(wrote);
    while (n != 0 && left >= at->iov_len) {
      left -= at->iov_len;
      ++at;
      --n;
    }
    if (n == 0) break;
    at->iov_base = static_cast<std::byte*>(at->iov_base) + left;
    at->iov_len -= left;
  }
  return 0;
}

int rewrite_file(int fd, std::size_t offset, const void* bytes, std::size_t n) noexcept {
  return pwrite(fd, bytes, n, static_cast<off_t>(offset)) == static_cast<ssize_t>(n) ? 0 : errno;
}

bool is_plain_file(int fd) noexcept {
  struct stat about {};
  return fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

int close_file(int fd) noexcept {
  const long r = bare::close(fd);
  return r == 0 || r == -EINTR ? 0 : static_cast<int>(-r);
}

int map_new_file(const char* path, std::size_t bytes, std::byte** at) noexcept {
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  // The blocks are asked for now: later a full disk would be a SIGBUS.
  int error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (error == 0) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) error = errno;
    *at = static_cast<std::byte*>(memory);
  }
  bare::close(fd);
  return error;
}

std::int64_t wall_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace vole::os
