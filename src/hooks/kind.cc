#include "hooks/kind.h"

#include "os/kernel_calls.h"

namespace vole::hooks {

constinit base::atomic<kind> guesses[kGuesses] = {};

bool ask_about(int fd, struct stat* about) noexcept {
  const char nothing[] = "";
  constexpr int kEmptyPath = 0x1000;  // AT_EMPTY_PATH
  return os::kernel::newfstatat(fd, &nothing[0], about, kEmptyPath) == 0;
}

kind ask_kind(int fd) noexcept {
  struct stat about {};
  if (!ask_about(fd, &about)) return kind::unknown;
  kind k = kind::file;
  switch (about.st_mode & S_IFMT) {
    case S_IFSOCK: k = kind::socket; break;
    case S_IFIFO: k = kind::stream; break;
    case S_IFCHR: k = kind::device; break;
    case 0: k = kind::stream; break;  // what the kernel makes without a name: eventfd, timerfd
  }
  remember(fd, k);
  return k;
}

}  // namespace vole::hooks
