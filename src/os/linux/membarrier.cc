#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fatal.h"
#include "os/os.h"

namespace vole::os {

bool membarrier_register() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void membarrier() noexcept {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
    base::fatal("os: membarrier refused; was it registered?");
}

}  // namespace vole::os
