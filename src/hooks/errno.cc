#include <cerrno>

#include "hooks/call.h"

namespace vole::hooks {

int error_now() noexcept { return errno; }
void set_error(int error) noexcept { errno = error; }

}  // namespace vole::hooks
