#include "sched/run/end.h"

#include "arch/sanitizer.h"
#include "base/fatal.h"
#include "os/os.h"
#include "poll/poll.h"
#include "poll/watch.h"
#include "sched/work/env.h"
#include "sched/hold/thread_maker.h"
#include "sched/park.h"
#include "sched/state.h"
#include "sched/hold/strict.h"
#include "sched/wait/p_timers.h"
#include "sched/hold/world.h"
#include "sched/wake_policy/policy.h"
#include "trace/emit.h"

namespace vole::rt {
namespace {

constexpr std::int64_t kSettleCheck = 1000 * 1000;  // ns; only for Ms that settle without a word
constexpr std::int64_t kSettleCheckMost = 100 * kSettleCheck;
// How long an M in user code may take to come in, where it settles: most are about to, their
// goroutine has just finished. One that only waits for a processor gets more, until it has had one.
constexpr std::int64_t kGrace = 50 * 1000 * 1000;        // ns
constexpr std::int64_t kGraceHog = 4 * kGrace;           // ns; it ran on past its slice
constexpr std::int64_t kGraceMost = 40 * kGrace;         // ns
constexpr std::int64_t kOnProcessor = 10 * 1000 * 1000;  // ns, of its own
constexpr int kStill = 3;                                // looks in a row that find it asleep
constexpr int kSlept = 20;                               // looks in all that find it asleep

bool is_alive(const G* g) noexcept {
  const g_status s = status_of(*g);
  return s != g_status::idle && s != g_status::dead;
}

// In user code, without a P: it keeps its thread, stack and record, and never comes back in.
// An M on its way in has set in_rt before it asks for the lock.
bool is_or_becomes_zombie(M* m, bool grace_is_over) noexcept {
  holding hold(m->retake_lock);
  if (m->zombie) return true;
  // In user code, or about to be: its next call of vole brings it in, where it sleeps. Said at every
  // look: a signal of strict mode may have cleared it.
  m->hot.attention.store(1, seq_cst);
  if (!grace_is_over || m->hot.in_rt.load(std::memory_order_acquire) != 0) return false;
  m->zombie = true;
  return true;
}

bool was_evicted(M& m) noexcept {
  holding hold(m.retake_lock);
  return m.patient;
}

// In user code, when the end has taken so long.
bool is_grace_over(M& m, std::int64_t lasts) noexcept {
  if (lasts < kGrace || m.hot.in_rt.load(std::memory_order_acquire) != 0) return false;
  if (lasts >= kGraceMost) return true;
  const std::uint64_t tid = m.tid.load(relaxed);
  const std::int64_t cpu = os::cpu_ns_of(tid);  // negative: the kernel does not say
  const std::int64_t ran = m.end_look.cpu_first < 0 ? 0 : cpu - m.end_look.cpu_first;
  if (ran >= kOnProcessor || (ran > 0 && lasts >= kGraceHog && was_evicted(m))) return true;
  const bool asleep = os::state_of(tid) == os::thread_state::sleeping;
  m.end_look.slept += asleep ? 1 : 0;
  m.end_look.still = asleep && cpu == m.end_look.cpu ? m.end_look.still + 1 : 0;
  m.end_look.cpu = cpu;
  return m.end_look.still >= kStill || m.end_look.slept >= kSlept;
}

template <class Fn>
void for_each_awake(Fn fn) noexcept {
  m_slab.for_each([&](M* m) {
    if (m->alive.load(std::memory_order_acquire) && !m->idle.load(seq_cst)) fn(*m);
  });
}

bool all_settled(std::int64_t lasts) noexcept {
  bool settled = true;
  for_each_awake([&](M& m) {
    if (!m.zombie) settled &= is_or_becomes_zombie(&m, is_grace_over(m, lasts));
  });
  return settled;
}

// Waits until every M sleeps or is a zombie. Ms inside the runtime find no P any more and are on
// their way to sleep.
void settle_threads() noexcept {
  sched.ending.store(true, seq_cst);
  left_behind.fetch_add(1, relaxed);
  poll::interrupt();  // the M that waits there comes out, to sleep with the others
  for_each_awake([](M& m) { m.end_look = {os::cpu_ns_of(m.tid.load(relaxed)), -1, 0, 0}; });
  std::int64_t lasts = 0, last = os::now_ns();
  for (;;) {
    strict::release_all_captured();  // a captured thread settles nowhere
    const std::uint32_t seen = sched.settled.load(seq_cst);
    if (all_settled(lasts)) break;
    futex_wait_for(&sched.settled, seen, kSettleCheck);
    // A process that was stopped meanwhile has lost little of its grace.
    const std::int64_t now = os::now_ns();
    lasts += now - last < kSettleCheckMost ? now - last : kSettleCheckMost;
    last = now;
  }
  holding hold(sched.lock);  // whose thread has just ended is still inside: end_m
}

// Parked goroutines first. Others that name an object were on their way in to release its waiters
// (sync/countdown.h).
void unlink_waiters() noexcept {
  for (const bool waiting : {true, false})
    g_slab.for_each([waiting](G* g) {
      if (!is_alive(g) || (status_of(*g) == g_status::waiting) != waiting) return;
      if (g->wait.object != nullptr) g->wait.unlink(g->wait.object, &g->wait);
    });
}

// Wakes plain threads that sleep in the poller, since nobody polls any more. They try again; one that
// still has to wait then starts the next runtime.
void wake_polling_guests() noexcept {
  poll::for_each_wait(
      [](poll::descriptor& d, poll::way w, void*) noexcept {
        if (waiter* const guest = poll::unblock(d, w, false)) wake(nullptr, guest);
      },
      nullptr);
  poll::completions foreign;
  poll::end_all_parties(foreign);
  while (waiter* const guest = foreign.pop()) wake(nullptr, guest, poll::kReadyAgain);
}

constinit atomic<std::uint32_t> farewells{0};  // futex word

void keep_for_ever(M* m) noexcept {
  strict::thread_ends(*m);
  trace::flag(*m, false);
  trace::thread_ends(*m);
  os::detach_thread(m->thread);
  depot::pin(m->curg->stack);
  g_slab.pin(m->curg);
  if (m->curg->name != nullptr) name_slab.pin(m->curg->name);
  m_slab.pin(m);
  sched.zombies.fetch_add(1, relaxed);
  left_behind.fetch_add(1, relaxed);
}

// Waits until every M that is not a zombie has said its last word. After that its thread runs
// destructors of thread_local objects, which are user code: it is joined later.
leaving_threads end_threads() noexcept {
  leaving_threads list;
  list.bytes = m_slab.count() * sizeof(os::thread);
  list.handles = static_cast<os::thread*>(map_pages(list.bytes));
  farewells.store(0, seq_cst);
  std::uint32_t sent = 0;
  m_slab.for_each([&](M* m) {
    if (!m->alive.load(std::memory_order_acquire)) return;
    if (m->zombie) return keep_for_ever(m);
    if (list.handles != nullptr) {
      list.handles[list.n++] = m->thread;
    } else {
      os::detach_thread(m->thread);
    }
    ++sent;
    m->must_end = true;
    m->park.wake();
  });
  for (std::uint32_t seen; (seen = farewells.load(seq_cst)) != sent;) futex_wait(&farewells, seen);
  return list;
}

bool is_zombies(const G* g) noexcept {
  bool found = false;
  m_slab.for_each([&](M* m) { found |= m->zombie && m->curg == g; });
  return found;
}

// Frees the goroutine's belongings, the newest first.
void end_locals_of(G* g) noexcept {
  for (goroutine_locals* l = g->wait.locals; l != nullptr;) {
    goroutine_locals* const mine = l;
    l = l->under;
    mine->end(mine, false);
  }
}

// Goroutines that never finished. Their frames are not unwound; plain threads that wait for one are
// woken.
void abandon_goroutines() noexcept {
  const bool zombies = sched.zombies.load(relaxed) != 0;
  g_slab.for_each([&](G* g) {
    if (!is_alive(g)) return;
    const bool running = zombies && is_zombies(g);
    if (!running) g->history.after_its_wait();
    if (!running) end_locals_of(g);
    if (g->abandon != nullptr) g->abandon(g->callable, running);
  });
}

void release_memory() noexcept {
  const bool zombies = sched.zombies.load(relaxed) != 0;
  if (!zombies) arch::san_release_all();
  g_slab.for_each([zombies](G* g) {
    if (!zombies || !is_zombies(g)) g->history.end();
  });
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
  shipped_env env;
  parking::reset(env, procs.load(relaxed));
  for (std::uint32_t i = 0; i < procs.load(relaxed); ++i) timer_mask.clear(i);
  last_poll.store(1, relaxed);
  poll_until.store(0, relaxed);
  wake_policy::reset();
  for (atomic<P*>& p : all) p.store(nullptr, relaxed);
  procs.store(0, seq_cst);
  free_ms = {};
  m_count = 0;
  evicted.store(0, relaxed);
  refused_at = 0;
  unmanned.store(false, relaxed);
  free_gs = {};
  free_names = {};
  guest_spawned.store(0, relaxed);
  hooked_migrations.store(0, relaxed);
  ending.store(false, relaxed);
}

void say_farewell() noexcept {
  base::end_if_dying();
  farewells.fetch_add(1, seq_cst);
  futex_wake(&farewells, 1);
}

void leaving_threads::join() noexcept {
  for (std::size_t i = 0; i < n; ++i) os::join_thread(handles[i]);
  if (handles != nullptr) unmap_pages(handles, bytes);
}

leaving_threads end_everything(void (*on_stopped)() noexcept) noexcept {
  settle_threads();
  thread_maker::stop();
  unlink_waiters();
  wake_polling_guests();
  forget_timers();
  const leaving_threads list = end_threads();
  left_behind.fetch_sub(1, relaxed);  // the zombies have been counted
  base::wait_if_dying();  // a thread that prints its last words reads the goroutines' records
  on_stopped();
  abandon_goroutines();
  release_memory();
  world::end();
  return list;
}

}  // namespace vole::rt
