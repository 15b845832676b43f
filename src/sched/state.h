// sched: the shared rest [1]. One per process, reborn with every runtime.
//
// Law    constinit and trivially destructible: usable before main and after exit.
//        `L` in comments is `sched.lock`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/thread_word.h"
#include "base/biased_lock.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/slab.h"
#include "gmp/g.h"
#include "gmp/m.h"
#include "gmp/p.h"
#include "queue/global_queue.h"
#include "queue/p_mask.h"
#include "queue/steal_order.h"
#include "sched/run/config.h"
#include "sched/work/parking.h"

namespace vole::rt {

using arch::this_m;

struct sched_state {
  base::lock<lock_rank::sched> lock;

  // ── queues ──
  global_queue global VOLE_GUARDED_BY(lock);
  lifo<P, &P::next> idle_ps VOLE_GUARDED_BY(lock);  // [19]
  double_lifo<M, &M::next, &M::above> idle_ms VOLE_GUARDED_BY(lock);  // [19]
  atomic<std::uint32_t> idle_p_count{0};           // written under L
  p_mask idle_mask;                                // written under L [17]
  parking::state parking;

  // ── waiting for timers and the network ── (sched/work/idle.h)
  alignas(64) atomic<std::int64_t> last_poll{1};   // ns; 0: somebody waits in the poller
  atomic<std::int64_t> poll_until{0};              // until when; 0: not yet said
  atomic<bool> looking{false};                     // somebody looks without waiting [12]
  p_mask timer_mask;                               // which Ps have had timers [17]

  // ── the Ps ── change with the world stopped
  atomic<P*> all[kMaxProcs] = {};                  // null from the first never used on
  atomic<std::uint32_t> procs{0};
  steal_strides strides;

  // ── stop the world ──
  atomic<bool> stopping{false};                    // written under L
  std::uint32_t stop_wait VOLE_GUARDED_BY(lock) = 0;  // Ps not yet stopped
  note stopped;                                    // stop_wait reached zero

  // ── threads ──
  lifo<M, &M::next> free_ms VOLE_GUARDED_BY(lock);  // records whose thread has ended
  std::uint32_t m_count VOLE_GUARDED_BY(lock) = 0;  // threads alive or being made
  atomic<std::uint64_t> starts{0};                 // how often an M was given a P; written under L
  std::int64_t refused_at VOLE_GUARDED_BY(lock) = 0;  // ns; when the kernel last refused a thread
  atomic<bool> unmanned{false};                    // a P lies idle for want of a thread
  atomic<std::uint32_t> zombies{0};
  atomic<std::uint32_t> evicted{0};                // goroutines on threads without a P
  atomic<std::uint64_t> hooked_migrations{0};      // homed goroutines that could not come home
  atomic<std::uint64_t> next_m_id{1};

  // ── strict mode ── (sched/hold/strict.h)
  atomic<std::uint32_t> captured_ms{0};               // Ms asleep in the handler
  atomic<std::uint32_t> forks{0};                  // under way: nobody is captured

  // ── goroutines ──
  // They have a lock of their own, so that ends of goroutines (every 32nd comes here) and queueing do
  // not meet.
  alignas(64) base::lock<lock_rank::records> records;
  record_pool free_gs VOLE_GUARDED_BY(records);    // [31]
  lifo<g_name, &g_name::next> free_names VOLE_GUARDED_BY(records);
  atomic<std::uint64_t> next_g_id{1};              // handed out in batches of 16
  atomic<std::uint64_t> guest_spawned{0};          // by plain threads, which have no P

  // ── the rest ──
  config settings;
  atomic<bool> in_run{false};                      // a thread is inside run()
  atomic<bool> main_runs{false};                   // its main goroutine has begun and not finished
  atomic<bool> ending{false};
  atomic<std::uint32_t> settled{0};                // futex word: an M went to sleep while ending
  atomic<std::int64_t> coarse_now{0};              // ns; advanced by sysmon and by idle Ms

  P* p_at(std::uint32_t i) noexcept { return all[i].load(std::memory_order_acquire); }
  // How much is queued there, without L: a hint, and a word of the parking protocol.
  std::size_t global_hint() const noexcept VOLE_UNCHECKED { return global.size_hint(); }
  std::size_t global_now() const noexcept VOLE_UNCHECKED { return global.size_now(); }
  void count_start_locked() noexcept VOLE_REQUIRES(lock) { starts.store(starts.load(relaxed) + 1, relaxed); }
  void reset() noexcept VOLE_UNCHECKED;                           // the end: as new, but for settings and ids
};

[[gnu::visibility("hidden")]] extern sched_state sched;
extern slab<G> g_slab;
extern slab<M> m_slab;
extern slab<P> p_slab;
extern slab<g_name> name_slab;
// Of the Ps. They last as long as the process, since a channel may outlive its runtime.
extern base::presence presences[kMaxProcs];

}  // namespace vole::rt
