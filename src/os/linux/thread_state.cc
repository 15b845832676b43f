// The state of one of our threads as the kernel gives it: the letter after its name in
// /proc/self/task/<id>/stat.
//
// Note   the name stands in brackets and may contain anything: the last bracket ends it.

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "os/linux/bare_calls.h"
#include "os/os.h"

namespace vole::os {
namespace {

// The file's first bytes. 0: it cannot be read.
std::size_t read_stat(std::uint64_t thread_id, char* out, std::size_t room) noexcept {
  constexpr char kBefore[] = "/proc/self/task/", kAfter[] = "/stat";
  char path[sizeof(kBefore) + 20 + sizeof(kAfter)];
  std::memcpy(path, kBefore, sizeof(kBefore) - 1);
  char* const digits = path + sizeof(kBefore) - 1;
  char* const end = std::to_chars(digits, digits + 20, thread_id).ptr;
  std::memcpy(end, kAfter, sizeof(kAfter));
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const long n = bare::read(fd, out, room);
  bare::close(fd);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

}  // namespace

thread_state state_of(std::uint64_t thread_id) noexcept {
  char text[128];
  const std::size_t n = read_stat(thread_id, text, sizeof(text));
  const auto* const bracket = static_cast<const char*>(n != 0 ? memrchr(text, ')', n) : nullptr);
  if (bracket == nullptr || bracket + 2 >= text + n) return thread_state::sleeping;
  switch (bracket[2]) {
    case 'R': return thread_state::running;
    case 'T':
    case 't': return thread_state::stopped;
    default: return thread_state::sleeping;
  }
}

}  // namespace vole::os
