#include "base/lot.h"

alignas(64) constinit vole::base::atomic<std::uint32_t> vole_lot_total{0};

namespace vole::base::lot {

alignas(64) constinit atomic<std::uint32_t> counts[kCounts];

}  // namespace vole::base::lot
