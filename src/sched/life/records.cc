#include "sched/life/records.h"

#include <cstring>

#include "base/fatal.h"
#include "sched/state.h"

namespace vole::rt {
namespace {

[[noreturn]] void no_memory() noexcept {
  fatal(
      "out of memory: the kernel refused room for a goroutine's record. Fewer goroutines at once "
      "or a higher memory limit would help");
}

// Not constructed: zeroed memory is a fresh G (gmp/status_test.cc), and a dump may be looking.
G* take_fresh(P& p) noexcept {
  G* fresh[free_records::kChain];
  const std::size_t n = g_slab.allocate_batch(fresh, free_records::kChain);
  if (n == 0) no_memory();
  for (std::size_t i = 1; i < n; ++i) (void)p.free_gs.put_owner(fresh[i]);  // one short of a chain
  return fresh[0];
}

// The P has none left.
[[gnu::noinline]] G* refill_free_gs(P& p) noexcept {
  sched.records.acquire();
  G* const chain = sched.free_gs.take_chain_locked();
  if (chain == nullptr) sched.free_gs.take_some_locked(p.free_gs);
  sched.records.release();
  if (chain != nullptr) p.free_gs.load_owner(chain);
  G* const g = p.free_gs.take_owner();
  return g != nullptr ? g : take_fresh(p);
}

void reset(G* g) noexcept {
  g->started = false;
  g->exiting = false;
  g->sp.store(nullptr, relaxed);
  g->stack = {};
  g->has_exceptions = false;
  g->why.store(wait_reason::none, relaxed);
  g->wake_value = 0;
  lock_to(*g, nullptr);
  g->name = nullptr;
  g->abandon = nullptr;
  g->history.end();
}

}  // namespace

G* take_record(P& p) noexcept {
  G* const g = p.free_gs.take_owner();
  return g != nullptr ? g : refill_free_gs(p);
}

G* take_record_guest() noexcept {
  sched.records.acquire();
  G* const g = sched.free_gs.take_locked();
  sched.records.release();
  if (g != nullptr) return g;
  G* const fresh = g_slab.allocate_raw();
  if (fresh == nullptr) no_memory();
  return fresh;
}

g_name* copy_name(const char* text) noexcept {
  sched.records.acquire();
  g_name* n = sched.free_names.pop();
  sched.records.release();
  if (n == nullptr) n = name_slab.allocate_raw();
  if (n == nullptr) no_memory();
  const std::size_t most = sizeof(n->text) - 1;
  const std::size_t length = strnlen(text, most);
  std::memcpy(n->text, text, length);
  n->text[length] = '\0';
  return n;
}

void recycle_g(M& m, G* g) noexcept {
  P& p = *m.p;
  if (g->name != nullptr) [[unlikely]] {
    sched.records.acquire();
    sched.free_names.push(g->name);
    sched.records.release();
  }
  reset(g);
  G* const chain = p.free_gs.put_owner(g);
  if (chain == nullptr) [[likely]] return;
  sched.records.acquire();
  sched.free_gs.put_chain_locked(chain);
  sched.records.release();
}

void recycle_g_guest(G* g) noexcept {
  set_status(*g, g_status::idle, g_status::dead);
  sched.records.acquire();
  if (g->name != nullptr) sched.free_names.push(g->name);
  reset(g);
  sched.free_gs.put_locked(g);
  sched.records.release();
}

}  // namespace vole::rt
