#include "os/program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "os/linux/bare_calls.h"

namespace vole::os {

const char* own_program() noexcept { return "/proc/self/exe"; }

std::size_t path_of_program(char* to, std::size_t room) noexcept {
  const ssize_t n = readlink(own_program(), to, room);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

bool exists(const char* path) noexcept {
  struct stat about {};
  return stat(path, &about) == 0;
}

std::string_view map_file(const char* path) noexcept {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  struct stat about {};
  void* at = MAP_FAILED;
  const bool any = fstat(fd, &about) == 0 && about.st_size > 0;
  const auto size = any ? static_cast<std::size_t>(about.st_size) : 0;
  if (any) at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  bare::close(fd);
  return at != MAP_FAILED ? std::string_view(static_cast<const char*>(at), size)
                          : std::string_view();
}

void unmap_file(std::string_view bytes) noexcept {
  if (!bytes.empty()) munmap(const_cast<char*>(bytes.data()), bytes.size());
}

void path_of_descriptor(int fd, char (&path)[kMostPathOfDescriptor]) noexcept {
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
}

}  // namespace vole::os
