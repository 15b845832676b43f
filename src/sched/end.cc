#include "sched/end.h"

#include "arch/sanitizer.h"
#include "os/os.h"
#include "sched/midwife.h"
#include "sched/state.h"
#include "sched/world.h"

namespace vole::rt {
namespace {

constexpr std::int64_t kLookAgain = 1000 * 1000;  // ns; only for Ms that settle without a word
// How long an M in user code may take to come in, where it settles: most are about to (their
// goroutine has just finished) and only wait for a processor.
constexpr std::int64_t kGrace = 50 * 1000 * 1000;  // ns

bool is_alive(const G* g) noexcept {
  const g_status s = status_of(*g);
  return s != g_status::idle && s != g_status::dead;
}

// In user code, without a P: it keeps its thread, stack and record, and never comes back in.
// An M on its way in has set in_rt before it asks for the lock.
bool is_or_becomes_zombie(M* m, bool grace_is_over) noexcept {
  holding hold(m->retake_lock);
  if (m->zombie) return true;
  if (!grace_is_over || m->hot.in_rt.load(std::memory_order_acquire) != 0) return false;
  m->zombie = true;
  return true;
}

bool all_settled(bool grace_is_over) noexcept {
  bool settled = true;
  m_slab.for_each([&](M* m) {
    if (!m->alive.load(std::memory_order_acquire) || m->idle.load(seq_cst)) return;
    settled &= is_or_becomes_zombie(m, grace_is_over);
  });
  return settled;
}

// Until every M sleeps or is a zombie. Those inside the runtime have no P left to find and are
// on their way to sleep.
void settle_threads() noexcept {
  sched.ending.store(true, seq_cst);
  const std::int64_t until = os::now_ns() + kGrace;
  for (;;) {
    const std::uint32_t seen = sched.settled.load(seq_cst);
    if (all_settled(os::now_ns() >= until)) return;
    futex_wait_for(&sched.settled, seen, kLookAgain);
  }
}

void unlink_waiters() noexcept {
  g_slab.for_each([](G* g) {
    if (status_of(*g) == g_status::waiting && g->wait.object != nullptr)
      g->wait.unlink(g->wait.object, &g->wait);
  });
}

void end_threads() noexcept {
  m_slab.for_each([](M* m) {
    if (!m->alive.load(std::memory_order_acquire)) return;
    if (m->zombie) {
      os::detach_thread(m->thread);
      depot::pin(m->curg->stack);
      g_slab.pin(m->curg);
      if (m->curg->name != nullptr) name_slab.pin(m->curg->name);
      m_slab.pin(m);
      sched.zombies.fetch_add(1, relaxed);
      return;
    }
    m->must_end = true;
    m->park.wake();
    os::join_thread(m->thread);
  });
}

bool is_zombies(const G* g) noexcept {
  bool found = false;
  m_slab.for_each([&](M* m) { found |= m->zombie && m->curg == g; });
  return found;
}

// Goroutines that never finished. Their frames are not unwound; whoever waits for one from a
// plain thread is told.
void abandon_goroutines() noexcept {
  const bool zombies = sched.zombies.load(relaxed) != 0;
  g_slab.for_each([&](G* g) {
    if (!is_alive(g) || g->abandon == nullptr || (zombies && is_zombies(g))) return;
    g->abandon(g->callable);
  });
}

void release_memory() noexcept {
  if (sched.zombies.load(relaxed) == 0) arch::san_release_all();
  depot::release_all();
  g_slab.release_all();
  name_slab.release_all();
  m_slab.release_all();
  p_slab.release_all();
  sched.reset();
}

}  // namespace

void sched_state::reset() noexcept {
  global.clear_locked();
  idle_ps = {};
  idle_ms = {};
  idle_p_count.store(0, relaxed);
  for (std::uint32_t i = 0; i < procs.load(relaxed); ++i) idle_mask.clear(i);
  parking.spinning.store(0, relaxed);
  parking.need_spinning.store(0, relaxed);
  for (atomic<P*>& p : all) p.store(nullptr, relaxed);
  procs.store(0, seq_cst);
  stopping.store(false, relaxed);
  free_ms = {};
  m_count = 0;
  free_gs = {};
  free_names = {};
  guest_spawned.store(0, relaxed);
  ending.store(false, relaxed);
}

void end_everything(void (*on_stopped)() noexcept) noexcept {
  midwife::stop();
  settle_threads();
  unlink_waiters();
  end_threads();
  on_stopped();
  abandon_goroutines();
  release_memory();
  world::end();
}

}  // namespace vole::rt
