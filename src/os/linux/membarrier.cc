#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fatal.h"
#include "base/system.h"
#include "os/os.h"

namespace vole::os {

bool membarrier_register() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void membarrier() noexcept {
  if (!base::membarrier())
    base::fatal(
        "os: the kernel refuses a membarrier that it has granted before. Has a sandbox (seccomp) been set "
        "up since? It must allow membarrier");
}

}  // namespace vole::os

namespace vole::base {

// Plain threads may come here before a runtime has started, and registered.
bool membarrier() noexcept {
  constexpr int kBarrier = MEMBARRIER_CMD_PRIVATE_EXPEDITED;
  if (syscall(SYS_membarrier, kBarrier, 0, 0) == 0) return true;
  return os::membarrier_register() && syscall(SYS_membarrier, kBarrier, 0, 0) == 0;
}

}  // namespace vole::base
