#include "base/lot.h"

namespace vole::base::lot {

alignas(64) constinit atomic<std::uint32_t> counts[kCounts];

}  // namespace vole::base::lot
