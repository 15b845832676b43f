#include "sched/overflow_sig.h"

#include "base/fatal.h"
#include "os/os.h"
#include "sched/dump.h"
#include "sched/state.h"
#include "stack/depot.h"

namespace vole::rt {

void stack_fault(void* address) noexcept {
  M* const m = this_m();
  if (m == nullptr || m->curg == nullptr || !depot::is_guard(address)) return;
  const G& g = *m->curg;
  const auto* const at = static_cast<const std::byte*>(address);
  if (at >= g.stack.lo || at < g.stack.lo - os::page_size()) return;  // somebody else's guard
  sentence s;
  s << "stack overflow: ";
  dump::put_goroutine(s, g);
  s << " has used up its " << static_cast<std::uint64_t>(g.stack.bytes) << " bytes. Created at ";
  dump::put_call_site(s, g.created_at);
  s << ". Give it more: go({.stack_size = ...}, fn), or VOLE_STACK_SIZE for all";
  fatal(s);
}

}  // namespace vole::rt
