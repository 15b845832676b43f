#include <vole/blocking.h>

#include "sched/life/call.h"

namespace vole {
inline namespace v0 {
namespace detail {

void begin_call() noexcept { rt::begin_call(); }
void end_call() noexcept { rt::end_call(); }

}  // namespace detail
}  // namespace v0
}  // namespace vole
