#include "sched/spawn.h"

#include <cstring>

#include "base/fatal.h"
#include "base/likely.h"
#include "sched/boot.h"
#include "sched/enter.h"
#include "sched/env.h"
#include "sched/state.h"
#include "sched/wake.h"

namespace vole::rt {
namespace {

constexpr std::uint64_t kIdBatch = 16;  // [31]

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
struct origin {
  std::uint64_t id, parent;
  void* created_at;
};

[[gnu::always_inline]] inline void fill(G* g, birth b, const origin& o,
                                        const wishes& w) noexcept {
  if (likely(status_of(*g) == g_status::dead)) set_status(*g, g_status::dead, g_status::idle);
  g->id = o.id;
  g->parent = o.parent;
  g->created_at = o.created_at;
  g->invoke = b.invoke;
  g->abandon = b.abandon;
  g->stack.bytes = w.stack_bytes != 0 ? w.stack_bytes : sched.settings.stack_bytes;
  if (w.name != nullptr) [[unlikely]] g->name = copy_name(w.name);
}

[[gnu::always_inline]] inline G* new_g_owner(M& m, birth b, void* created_at,
                                             const wishes& w) noexcept {
  G* const g = take_record(*m.p);
  fill(g, b, {next_id(*m.p), m.curg != nullptr ? m.curg->id : 0, created_at}, w);
  m.p->spawned.add_owner();
  return g;
}

G* make_guest_g(birth b, void* created_at, const wishes& w) noexcept {
  G* const g = take_record_guest();
  fill(g, b, {sched.next_g_id.fetch_add(1, relaxed), 0, created_at}, w);
  sched.guest_spawned.fetch_add(1, relaxed);
  return g;
}

G* new_g_guest(birth b, void* created_at, const wishes& w) noexcept {
  guest_enter_started();
  return make_guest_g(b, created_at, w);
}

// Most callables are a few pointers: 8, 16, 24 or 32 bytes, copied without a call.
bool is_few_pointers(std::size_t bytes) noexcept {
  return likely(bytes % 8 == 0) && likely(bytes - 8 <= 24);
}
[[gnu::always_inline]] inline void copy_pointers(G* g, const void* from, std::size_t bytes) noexcept {
  if (likely(bytes == 8)) {
    std::memcpy(g->callable, from, 8);
  } else if (bytes == 16) {
    std::memcpy(g->callable, from, 16);
  } else if (bytes == 24) {
    std::memcpy(g->callable, from, 24);
  } else {
    std::memcpy(g->callable, from, 32);
  }
}

void copy_callable(G* g, const void* from, std::size_t bytes) noexcept {
  is_few_pointers(bytes) ? copy_pointers(g, from, bytes)
                         : static_cast<void>(std::memcpy(g->callable, from, bytes));
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
  lock_to(*g, nullptr);
  g->lock_depth = 0;
  g->name = nullptr;
  g->abandon = nullptr;
}

// ── the exceptions of spawn_trivial, each with its own call ──

[[gnu::noinline]] void spawn_inside(M* m, birth b, void* created_at, const void* callable,
                                    std::size_t bytes) noexcept {
  G* const g = new_g_owner(*m, b, created_at, {});
  copy_callable(g, callable, bytes);
  publish_owner(*m, g);
  leave(m);
}

[[gnu::noinline]] void spawn_without_p(birth b, void* created_at, const void* callable,
                                       std::size_t bytes) noexcept {
  spawn_inside(reenter(), b, created_at, callable, bytes);
}

[[gnu::noinline]] void spawn_anyhow(birth b, void* created_at, const void* callable,
                                    std::size_t bytes) noexcept {
  spawn_with_wishes(b, created_at, {}, callable, bytes);
}

[[gnu::noinline]] void put_displaced_and_leave(M* m, runnable* displaced) noexcept {
  put_displaced_owner(*m, displaced);
  leave(m);
}

[[gnu::noinline]] void submit_and_leave(M* m) noexcept {
  submit_local();
  leave(m);
}

// Debug builds take the order of put_new_owner now and then.
bool is_for_a_detour([[maybe_unused]] M& m) noexcept {
#ifdef VOLE_CHECKED
  return m.random.below(2) == 0;
#else
  return false;
#endif
}

}  // namespace

// A guest stays inside between new_g and publish_g or discard_g: the runtime cannot end under
// the record it holds.
G* new_g(birth b, void* created_at, const wishes& w) noexcept {
  if (this_m() == nullptr) return new_g_guest(b, created_at, w);
  M* const m = enter();
  G* const g = new_g_owner(*m, b, created_at, w);
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
    sched.free_gs.put_locked(g);
    sched.records.release();
    return guest_leave();
  }
  M* const m = enter();
  m->p->finished.add_owner();
  set_status(*g, g_status::idle, g_status::dead);
  recycle_g(*m, g);
  leave(m);
}

// What is the rule makes no call but a last one, so it needs no frame (docs/design/0011-no-frame.md):
// a record at hand, an id, a few pointers to copy, room in the ring, somebody awake.
void spawn_trivial(birth b, void* created_at, const void* callable, std::size_t bytes) noexcept {
  M* const m = this_m();
  if (m == nullptr || !is_few_pointers(bytes)) [[unlikely]]
    return spawn_anyhow(b, created_at, callable, bytes);
  if (!try_enter(m)) [[unlikely]] return spawn_without_p(b, created_at, callable, bytes);
  P& p = *m->p;
  if (!likely(p.next_id != p.end_id) || is_for_a_detour(*m))
    return spawn_inside(m, b, created_at, callable, bytes);
  G* const g = p.free_gs.take_first_owner();
  if (!likely(g != nullptr)) return spawn_inside(m, b, created_at, callable, bytes);
  fill(g, b, {p.next_id++, m->curg->id, created_at}, {});
  p.spawned.add_owner();
  copy_pointers(g, callable, bytes);
  set_status(*g, g_status::idle, g_status::runnable);
  runnable* const displaced = p.runnext.exchange(g, seq_cst);  // S1, as in put_new_owner
  if (displaced != nullptr) {
    if (!likely(p.ring.push_newest_owner(displaced))) return put_displaced_and_leave(m, displaced);
    fence_seq_cst();  // S2
  }
  if (may_submit_local() && !likely(parking::is_awaited(sched.parking))) return submit_and_leave(m);
  if (!try_leave(m)) [[unlikely]] attend();
}

void spawn_with_wishes(birth b, void* created_at, const wishes& w, const void* callable,
                       std::size_t bytes) noexcept {
  if (this_m() == nullptr) {
    G* const g = new_g_guest(b, created_at, w);
    copy_callable(g, callable, bytes);
    return publish_guest(g);
  }
  M* const m = enter();
  G* const g = new_g_owner(*m, b, created_at, w);
  copy_callable(g, callable, bytes);
  publish_owner(*m, g);
  leave(m);
}

void spawn_from_timer(M* m, birth b, void* created_at, const void* callable,
                      std::size_t bytes) noexcept {
  if (m != nullptr) {
    G* const g = new_g_owner(*m, b, created_at, {});
    copy_callable(g, callable, bytes);
    return publish_owner(*m, g);
  }
  G* const g = make_guest_g(b, created_at, {});
  copy_callable(g, callable, bytes);
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
  G* const chain = p.free_gs.put_owner(g);
  if (chain == nullptr) [[likely]] return;
  sched.records.acquire();
  sched.free_gs.put_chain_locked(chain);
  sched.records.release();
}

}  // namespace vole::rt
