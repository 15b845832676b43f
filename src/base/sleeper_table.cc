#include "base/sleeper_table.h"

constinit vole_sleeper_word vole_sleeper_total{};

namespace vole::base::sleeper_table {

alignas(64) constinit atomic<std::uint32_t> counts[kCounts];

}  // namespace vole::base::sleeper_table
