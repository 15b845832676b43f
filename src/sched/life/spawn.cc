#include "sched/life/spawn.h"

#include <cstring>

#include "base/likely.h"
#include "sched/run/boot.h"
#include "sched/life/enter.h"
#include "sched/work/env.h"
#include "sched/life/records.h"
#include "sched/state.h"
#include "sched/work/wake.h"
#include "trace/emit.h"

namespace vole::rt {
namespace {

constexpr std::uint64_t kIdBatch = 16;  // [31]

std::uint64_t next_id(P& p) noexcept {
  if (p.next_id == p.end_id) {
    p.next_id = sched.next_g_id.fetch_add(kIdBatch, relaxed);
    p.end_id = p.next_id + kIdBatch;
  }
  return p.next_id++;
}

// These two are inlined by force: go() is one call.
struct origin {
  std::uint64_t id, parent;
  void* created_at;
};

[[gnu::always_inline]] inline void fill(G* g, birth b, const origin& o,
                                        const spawn_options& w) noexcept {
  if (likely(status_of(*g) == g_status::dead)) set_status(*g, g_status::dead, g_status::idle);
  g->id = o.id;
  g->parent = o.parent;
  g->created_at = o.created_at;
  g->invoke = b.invoke;
  g->abandon = b.abandon;
  g->stack.bytes = w.stack_bytes != 0 ? w.stack_bytes : sched.settings.stack_bytes;
  if (w.name != nullptr) [[unlikely]] g->name = copy_name(w.name);
  g->history.begin(o.id, w.name, o.created_at);
}

[[gnu::always_inline]] inline G* new_g_owner(M& m, birth b, void* created_at,
                                             const spawn_options& w) noexcept {
  G* const g = take_record(*m.p);
  fill(g, b, {next_id(*m.p), m.curg != nullptr ? m.curg->id : 0, created_at}, w);
  m.p->spawned.add_owner();
  return g;
}

G* make_guest_g(birth b, void* created_at, const spawn_options& w) noexcept {
  G* const g = take_record_guest();
  fill(g, b, {sched.next_g_id.fetch_add(1, relaxed), 0, created_at}, w);
  sched.guest_spawned.fetch_add(1, relaxed);
  return g;
}

G* new_g_guest(birth b, void* created_at, const spawn_options& w) noexcept {
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
  if (trace::is_traced(m)) [[unlikely]] trace::created(&m, *g);
  set_status(*g, g_status::idle, g_status::runnable);
  put_new_owner(m, g);
}

void publish_guest(G* g) noexcept {
  if (trace::is_on()) [[unlikely]] trace::created(nullptr, *g);
  set_status(*g, g_status::idle, g_status::runnable);
  push_global(g);
  guest_leave();
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
  spawn_with_options(b, created_at, {}, callable, bytes);
}

[[gnu::noinline]] void put_displaced_and_leave(M* m, runnable* displaced) noexcept {
  put_displaced_owner(*m, displaced);
  leave(m);
}

[[gnu::noinline]] void wake_somebody_and_leave(M* m) noexcept {
  shipped_env env(wake_policy::reason{wake_policy::probation::work, m->p});
  parking::wake_somebody(env);
  leave(m);
}

// Checked builds only: to the ring's tail.
[[gnu::noinline]] void spawn_behind(M* m, birth b, void* created_at, const void* callable,
                                    std::size_t bytes) noexcept {
  G* const g = new_g_owner(*m, b, created_at, {});
  copy_callable(g, callable, bytes);
  if (trace::is_traced(*m)) trace::created(m, *g);
  set_status(*g, g_status::idle, g_status::runnable);
  put_displaced_owner(*m, g);
  leave(m);
}

}  // namespace

// A guest stays inside between new_g and publish_g or discard_g: the runtime cannot end under
// the record it holds.
G* new_g(birth b, void* created_at, const spawn_options& w) noexcept {
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
    recycle_g_guest(g);
    return guest_leave();
  }
  M* const m = enter();
  m->p->finished.add_owner();
  set_status(*g, g_status::idle, g_status::dead);
  recycle_g(*m, g);
  leave(m);
}

// The common path makes no call but a last one, so it needs no frame (docs/design/0011-no-frame.md): a
// record is at hand, an id is left, there are a few pointers to copy, the ring has room, and somebody
// is awake.
void spawn_trivial(birth b, void* created_at, const void* callable, std::size_t bytes) noexcept {
  M* const m = this_m();
  if (m == nullptr || !is_few_pointers(bytes)) [[unlikely]]
    return spawn_anyhow(b, created_at, callable, bytes);
  if (!try_enter(m)) [[unlikely]] return spawn_without_p(b, created_at, callable, bytes);
  P& p = *m->p;
  if (goes_behind(*m)) return spawn_behind(m, b, created_at, callable, bytes);
  if (trace::is_traced(*m)) [[unlikely]] return spawn_inside(m, b, created_at, callable, bytes);
  if (!likely(p.next_id != p.end_id)) return spawn_inside(m, b, created_at, callable, bytes);
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
  if (wake_policy::wakes_for(p) && !likely(parking::is_awaited(sched.parking)))
    return wake_somebody_and_leave(m);
  if (!try_leave(m)) [[unlikely]] attend();
}

void spawn_with_options(birth b, void* created_at, const spawn_options& w, const void* callable,
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
  if (trace::is_on()) [[unlikely]] trace::created(nullptr, *g);
  set_status(*g, g_status::idle, g_status::runnable);
  push_global(g);
}

void guest_enter_started() noexcept {
  while (!guest_enter()) {
    guest_leave();
    boot::start_implicitly();
  }
}

}  // namespace vole::rt
