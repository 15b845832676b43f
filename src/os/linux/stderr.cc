#include <cerrno>
#include <unistd.h>

#include "base/system.h"

namespace vole::base {

void write_stderr(const char* text, std::size_t size) noexcept {
  const int saved = errno;
  while (size > 0) {
    const ssize_t n = ::write(STDERR_FILENO, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text += n;
    size -= static_cast<std::size_t>(n);
  }
  errno = saved;
}

}  // namespace vole::base
