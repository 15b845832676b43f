// include/vole/time.h: sleeping.

#include <vole/time.h>

#include "os/os.h"
#include "sched/park.h"
#include "sched/timeout.h"

namespace vole {
inline namespace v0 {
namespace detail {

static_assert(kNeverNs == rt::kNoTimer);

void sleep_until_ns(std::int64_t when) noexcept {
  rt::sleep_until_ns(when, rt::wait_reason::sleep);
}

// Without a second look at the clock: the deadline lies ahead.
void sleep_for_ns(std::int64_t ns) noexcept {
  if (!rt::on_goroutine()) return rt::sleep_thread(ns);
  rt::sleep_goroutine_until(later(os::now_ns(), ns), rt::wait_reason::sleep);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
