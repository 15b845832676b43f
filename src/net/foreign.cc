// The functions that an interposing library calls: vole/detail/foreign.h.

#include <vole/detail/foreign.h>

#include "net/calls.h"
#include "os/os.h"
#include "sched/life/call.h"
#include "sched/park.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace foreign {

std::int64_t now_ns() noexcept { return os::now_ns(); }

bool can_park() noexcept { return rt::may_park_here(); }

int wait_fds(pollfd* fds, unsigned n, std::int64_t deadline) noexcept {
  const calls::result now = calls::poll(fds, n, 0);
  if (!now.ok()) return -now.error;
  if (now.value != 0) return static_cast<int>(now.value);
  const call_at_home blocks;
  const calls::result r = calls::poll(fds, n, deadline);
  return r.ok() ? static_cast<int>(r.value) : -r.error;
}

void sleep_home(std::int64_t deadline) noexcept {
  const call_at_home blocks;
  (void)calls::poll(nullptr, 0, deadline);
}

call_at_home::call_at_home() noexcept : told_(can_park()) {
  if (told_) rt::begin_call();
}
call_at_home::~call_at_home() {
  if (told_) rt::end_call();
}

void closing::begin() noexcept {}
void closing::end() noexcept {}

void give_way() noexcept {}

}  // namespace foreign
}  // namespace detail
}  // namespace v0
}  // namespace vole
