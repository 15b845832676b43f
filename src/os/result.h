// What a system call came to, as a value: the contracts net.h, file.h and process.h give it.
#pragma once

#include <cstdint>

namespace vole::os {

struct result {
  std::int64_t value = 0;
  int error = 0;  // an errno value
  bool ok() const noexcept { return error == 0; }
};

}  // namespace vole::os
