#include <cstdlib>

#include "os/os.h"

namespace vole::os {

const char* environment(const char* name) noexcept { return std::getenv(name); }

}  // namespace vole::os
