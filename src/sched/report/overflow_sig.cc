#include "sched/report/overflow_sig.h"

#include "base/fatal.h"
#include "os/os.h"
#include "sched/report/dump.h"
#include "sched/state.h"
#include "stack/depot.h"

namespace vole::rt {
namespace {

bool is_overflow(const G& g, const void* address) noexcept {
  const auto* const at = static_cast<const std::byte*>(address);
  return at < g.stack.lo && at >= g.stack.lo - os::page_size();  // not somebody else's guard
}

[[noreturn]] void overflowed(const G& g) noexcept {
  sentence s;
  s << "stack overflow: ";
  dump::put_goroutine(s, g);
  s << " has used up its " << static_cast<std::uint64_t>(g.stack.bytes) << " bytes. Created at ";
  dump::put_call_site(s, g.created_at);
  s << ". Give it more: go({.stack_size = ...}, fn), or VOLE_STACK_SIZE for all";
  fatal(s);
}

}  // namespace

void on_fault(const os::fault& f) noexcept {
  M* const m = this_m();
  if (m == nullptr || m->curg == nullptr) return;
  const G& g = *m->curg;
  if (f.has_address && depot::is_guard(f.address) && is_overflow(g, f.address)) overflowed(g);
  if (!f.kills) return;  // somebody handles it, and may well repair it
  base::begin_last_words();
  sentence s;
  s << "vole: " << f.name;
  if (f.has_address) {
    s << " at address ";
    s.hex(reinterpret_cast<std::uintptr_t>(f.address));
  }
  s << " in ";
  dump::put_goroutine(s, g);
  s << ", created at ";
  dump::put_call_site(s, g.created_at);
  s << ", by the instruction at ";
  dump::put_address(s, f.at);
  s << "\n";
  s.print();
}

}  // namespace vole::rt
