#include "sched/hold/world.h"

#include <new>

#include "base/fatal.h"
#include "os/os.h"
#include "sched/hold/retake.h"
#include "sched/hold/strict.h"
#include "sched/hold/thread.h"
#include "sched/life/enter.h"
#include "sched/run/lifecycle.h"
#include "sched/state.h"
#include "sched/wait/p_timers.h"
#include "sched/watch/sysmon.h"
#include "sched/work/env.h"
#include "sched/work/home.h"
#include "trace/emit.h"

namespace vole::rt::world {
namespace {

constinit base::lock<lock_rank::world> one_stopper;

void retake_all() noexcept VOLE_UNCHECKED {  // hide's locks, all at once
  shipped_env env;
  static constinit M* hidden[kMaxProcs];  // one stopper at a time
  const std::uint32_t n = sched.procs.load(relaxed);
  for (std::uint32_t i = 0; i < n; ++i) hidden[i] = retake::hide(sched.p_at(i));
  os::membarrier();
  std::uint32_t taken = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (hidden[i] == nullptr) continue;
    P* const p = sched.p_at(i);
    if (retake::look(hidden[i], p)) {
      p->taken_from = hidden[i];
      env.becomes_stopped(*p);
      ++taken;
    }
    hidden[i]->retake_lock.release();
  }
  env.lock();
  parking::count_stopped_locked(env, taken);
  env.unlock();
}

// Gives p back to the thread it was taken from, if that has not noticed yet.
bool give_back(P* p) noexcept {
  M* const m = p->taken_from;
  p->taken_from = nullptr;
  if (m == nullptr) return false;
  holding hold(m->retake_lock);
  if (m->away != p || m->zombie) return false;
  m->away = nullptr;
  end_eviction(*m->curg, g_status::running);
  m->p = p;
  set_status(*p, p_status::running);
  p->m.store(m, seq_cst);
  m->hot.unhide(p);
  return true;
}

// p will not go back to the thread it was taken from.
void lose(P* p) noexcept {
  M* const m = p->taken_from;
  p->taken_from = nullptr;
  if (m == nullptr) return;
  home::chain mail;
  {
    holding hold(m->retake_lock);
    if (m->away != p) return;
    m->away = nullptr;
    mail = home::shut_locked(*m);
    trace::p_is_taken(*m, *p);
  }
  home::spread(mail);
}

// [33]: the queue of a dying P goes to the head of the global one; its caches go to the shared ones.
void drain(P* p) noexcept {
  sched.lock.acquire();
  drain_queue_locked(p);
  sched.lock.release();
  sched.records.acquire();
  if (G* const chain = p->free_gs.take_chain_owner()) sched.free_gs.put_chain_locked(chain);
  while (G* const g = p->free_gs.take_owner()) sched.free_gs.put_locked(g);
  sched.records.release();
  depot::put(p->stack_cache, p->stacks);
  p->stacks = 0;
}

}  // namespace

void keep_going() noexcept VOLE_UNCHECKED {  // until may_stop
  strict::leave_alone(1);  // until may_stop: we hold one_stopper
  one_stopper.acquire();
  if (lifecycle::is_zombie()) {
    one_stopper.release();
    sleep_as_zombie();
  }
}

void may_stop() noexcept VOLE_UNCHECKED {
  one_stopper.release();
  strict::leave_alone(-1);
}

void stop(std::string_view purpose) noexcept {
  keep_going();
  trace::stop_begins(purpose);
  const std::uint32_t n = sched.procs.load(relaxed);
  for (std::uint32_t i = 0; i < n; ++i) sched.p_at(i)->was_idle = false;
  sched.stopped.clear();
  shipped_env env;
  if (parking::begin_stop(env, n, [](P& p) { p.was_idle = true; })) return;
  retake_all();
  sched.stopped.sleep();
}

void start() noexcept {
  const std::uint32_t n = sched.procs.load(relaxed);
  shipped_env env;
  env.lock();
  parking::end_stop_locked(env);
  sysmon::wake_locked();  // Ps are handed out below without passing the idle list
  env.unlock();
  // First back to their Ms, all of them: a P that is handed off sets threads in motion.
  for (std::uint32_t i = 0; i < n; ++i) give_back(sched.p_at(i));
  for (std::uint32_t i = 0; i < n; ++i)
    if (P* const p = sched.p_at(i); p->status.load(relaxed) == p_status::stopped) hand_off(p);
  // Before the lock goes: afterwards the runtime may end under a stopper on a goroutine.
  if (sched.global_now() != 0) submit();
  trace::stop_ends();
  may_stop();
}

void begin() noexcept {
  shipped_env env;
  env.lock();
  parking::end_stop_locked(env);
  const std::uint32_t n = sched.procs.load(relaxed);
  for (std::uint32_t i = n; i-- > 0;) parking::put_idle_p_locked(env, sched.p_at(i));
  env.unlock();
}

void end() noexcept VOLE_UNCHECKED {  // stop took it
  trace::stop_ends();
  one_stopper.release();
}

void resize(std::uint32_t n) noexcept {
  const std::uint32_t had = sched.procs.load(relaxed);
  for (std::uint32_t i = n; i < had; ++i) {
    P* const p = sched.p_at(i);
    drain(p);
    adopt_timers(i, 0);
    sched.timer_mask.clear(i);
    lose(p);
    set_status(*p, p_status::dead);
  }
  for (std::uint32_t i = had; i < n; ++i) {
    P* p = sched.p_at(i);
    if (p == nullptr) {
      P* const memory = p_slab.allocate_raw();
      if (memory == nullptr)
        fatal(
            "out of memory: no room for another P. Fewer (VOLE_MAXPROCS) or a higher memory "
            "limit would help");
      p = new (memory) P;
      p->id = i;
      p->presence = &presences[i];
      sched.all[i].store(p, std::memory_order_release);  // pairs: p_at
    }
    set_status(*p, p_status::stopped);
  }
  sched.strides.reset(n);
  sched.procs.store(n, seq_cst);
}

void stop_here(M& m) noexcept {
  shipped_env env;
  parking::stop_here(env, m);
}

void yield_p_to_stopper(M& m) noexcept {
  become_evicted(*m.curg);
  P* const p = detach_p(m);
  m.retake_lock.acquire();
  m.away = p;
  m.retake_lock.release();
  p->taken_from = &m;
  shipped_env env;
  if (parking::stop_p(env, p)) return;
  p->taken_from = nullptr;
  attach_p(m, p);
  end_eviction(*m.curg, g_status::running);
}

}  // namespace vole::rt::world
