#include "base/lot.h"

constinit vole_lot_word vole_lot_total{};

namespace vole::base::lot {

alignas(64) constinit atomic<std::uint32_t> counts[kCounts];

}  // namespace vole::base::lot
