// The twin of src/base/sleeper_table.h: the two counts, of which the second is for all locks as
// well; new in each execution.
#pragma once

#include <cstdint>

#include "base/atomic.h"

namespace vole::base::sleeper_table {

atomic<std::uint32_t>& total() noexcept;
atomic<std::uint32_t>& sleepers(const void* lock) noexcept;

}  // namespace vole::base::sleeper_table
