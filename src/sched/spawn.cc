#include "sched/spawn.h"

#include <cstring>

#include "base/fatal.h"
#include "sched/boot.h"
#include "sched/enter.h"
#include "sched/state.h"
#include "sched/wake.h"

namespace vole::rt {
namespace {

// [31]
constexpr std::size_t kFreeMost = 64;
constexpr std::size_t kFreeRefill = 32;
constexpr std::uint64_t kIdBatch = 16;

[[noreturn]] void no_memory() noexcept {
  fatal(
      "out of memory: the kernel refused room for a goroutine's record. Fewer goroutines at once "
      "or a higher memory limit would help");
}

[[gnu::noinline]] runnable* refill_free_gs(P& p) noexcept {
  sched.records.acquire();
  while (p.free_gs.size() < kFreeRefill) {
    runnable* const r = sched.free_gs.pop();
    if (r == nullptr) break;
    p.free_gs.push(r);
  }
  sched.records.release();
  if (runnable* r = p.free_gs.pop()) return r;
  G* fresh[kFreeRefill];
  const std::size_t n = g_slab.allocate_batch(fresh, kFreeRefill);
  if (n == 0) no_memory();
  // Not constructed: zeroed memory is a fresh G (gmp/status_test.cc), and a dump may be looking.
  for (std::size_t i = 1; i < n; ++i) p.free_gs.push(fresh[i]);
  return fresh[0];
}

G* take_record(P& p) noexcept {
  runnable* r = p.free_gs.pop();
  if (r == nullptr) r = refill_free_gs(p);
  return as_g(r);
}

G* take_record_guest() noexcept {
  sched.records.acquire();
  runnable* const r = sched.free_gs.pop();
  sched.records.release();
  if (r != nullptr) return as_g(r);
  G* const fresh = g_slab.allocate_raw();
  if (fresh == nullptr) no_memory();
  return fresh;
}

std::uint64_t next_id(P& p) noexcept {
  if (p.next_id == p.end_id) {
    p.next_id = sched.next_g_id.fetch_add(kIdBatch, relaxed);
    p.end_id = p.next_id + kIdBatch;
  }
  return p.next_id++;
}

[[gnu::noinline]] g_name* copy_name(const char* text) noexcept {
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

// These two are inlined by force: go() is one call.
[[gnu::always_inline]] inline void fill(G* g, const birth& b, std::uint64_t id, std::uint64_t parent) noexcept {
  if (status_of(*g) == g_status::dead) set_status(*g, g_status::dead, g_status::idle);
  g->id = id;
  g->parent = parent;
  g->created_at = b.created_at;
  g->invoke = b.invoke;
  g->abandon = b.abandon;
  g->stack.bytes = b.stack_bytes != 0 ? b.stack_bytes : sched.settings.stack_bytes;
  if (b.name != nullptr) [[unlikely]] g->name = copy_name(b.name);
}

[[gnu::always_inline]] inline G* new_g_owner(M& m, const birth& b) noexcept {
  G* const g = take_record(*m.p);
  fill(g, b, next_id(*m.p), m.curg != nullptr ? m.curg->id : 0);
  m.p->spawned.add_owner();
  return g;
}

G* make_guest_g(const birth& b) noexcept {
  G* const g = take_record_guest();
  fill(g, b, sched.next_g_id.fetch_add(1, relaxed), 0);
  sched.guest_spawned.fetch_add(1, relaxed);
  return g;
}

G* new_g_guest(const birth& b) noexcept {
  guest_enter_started();
  return make_guest_g(b);
}

void publish_owner(M& m, G* g) noexcept {
  set_status(*g, g_status::idle, g_status::runnable);
  put_new_owner(m, g);
}

void publish_guest(G* g) noexcept {
  set_status(*g, g_status::idle, g_status::runnable);
  push_global(g);
  guest_leave();
}

void reset(G* g) noexcept {
  g->started = false;
  g->exiting = false;
  g->sp.store(nullptr, relaxed);
  g->stack = {};
  g->has_exceptions = false;
  g->why.store(wait_reason::none, relaxed);
  g->wake_value = 0;
  g->locked_m = nullptr;
  g->lock_depth = 0;
  g->name = nullptr;
  g->abandon = nullptr;
}

}  // namespace

// A guest stays inside between new_g and publish_g or discard_g: the runtime cannot end under
// the record it holds.
G* new_g(const birth& b) noexcept {
  if (this_m() == nullptr) return new_g_guest(b);
  M* const m = enter();
  G* const g = new_g_owner(*m, b);
  leave(m);
  return g;
}

void publish_g(G* g) noexcept {
  if (this_m() == nullptr) return publish_guest(g);
  M* const m = enter();
  publish_owner(*m, g);
  leave(m);
}

void discard_g(G* g) noexcept {
  if (this_m() == nullptr) {
    sched.guest_spawned.fetch_sub(1, relaxed);
    bury(*g);
    sched.records.acquire();
    if (g->name != nullptr) sched.free_names.push(g->name);
    reset(g);
    sched.free_gs.push(g);
    sched.records.release();
    return guest_leave();
  }
  M* const m = enter();
  m->p->finished.add_owner();
  set_status(*g, g_status::idle, g_status::dead);
  recycle_g(*m, g);
  leave(m);
}

void spawn_trivial(const birth& b, const void* callable, std::size_t bytes) noexcept {
  if (this_m() == nullptr) [[unlikely]] {
    G* const g = new_g_guest(b);
    std::memcpy(g->callable, callable, bytes);
    return publish_guest(g);
  }
  M* const m = enter();
  G* const g = new_g_owner(*m, b);
  std::memcpy(g->callable, callable, bytes);
  publish_owner(*m, g);
  leave(m);
}

void spawn_from_timer(M* m, const birth& b, const void* callable, std::size_t bytes) noexcept {
  if (m != nullptr) {
    G* const g = new_g_owner(*m, b);
    std::memcpy(g->callable, callable, bytes);
    return publish_owner(*m, g);
  }
  G* const g = make_guest_g(b);
  std::memcpy(g->callable, callable, bytes);
  set_status(*g, g_status::idle, g_status::runnable);
  push_global(g);
}

void guest_enter_started() noexcept {
  while (!guest_enter()) {
    guest_leave();
    boot::start_implicitly();
  }
}

void recycle_g(M& m, G* g) noexcept {
  P& p = *m.p;
  if (g->name != nullptr) [[unlikely]] {
    sched.records.acquire();
    sched.free_names.push(g->name);
    sched.records.release();
  }
  reset(g);
  p.free_gs.push(g);
  if (p.free_gs.size() < kFreeMost) return;
  sched.records.acquire();
  while (p.free_gs.size() > kFreeMost / 2) sched.free_gs.push(p.free_gs.pop());
  sched.records.release();
}

}  // namespace vole::rt
