// The twin of src/base/lot.h: one count for all locks, new in each execution.
#pragma once

#include <cstdint>

#include "base/atomic.h"

namespace vole::base::lot {

atomic<std::uint32_t>& sleepers(const void* lock) noexcept;

}  // namespace vole::base::lot
