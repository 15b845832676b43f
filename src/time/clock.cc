// include/vole/detail/time.h: the clock that public headers read.

#include <vole/detail/time.h>

#include "os/os.h"

namespace vole {
inline namespace v0 {
namespace detail {

std::int64_t now_ns() noexcept { return os::now_ns(); }

}  // namespace detail
}  // namespace v0
}  // namespace vole
