#include <cerrno>
#include <unistd.h>

#include "os/linux/bare_calls.h"
#include "base/system.h"

namespace vole::base {

void write_stderr(const char* text, std::size_t size) noexcept {
  while (size > 0) {
    const long n = os::bare::write(STDERR_FILENO, text, size);
    if (n == -EINTR) continue;
    if (n <= 0) break;
    text += n;
    size -= static_cast<std::size_t>(n);
  }
}

}  // namespace vole::base
