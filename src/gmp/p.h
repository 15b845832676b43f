// P: the right to run goroutines, and the caches that go with it.
//
// Who    the M that owns it, unless a line says otherwise.
// Law    exactly one owner: the idle list, an M, a starter in flight, or the
//        world-stopper (I4). An idle P has nothing in its ring, runnext and ready_next.
// Note   counters are written by the owner with plain stores and read by anybody:
//        there is no shared counter on a hot path.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.h"
#include "base/biased_lock.h"
#include "base/list.h"
#include "gmp/free_records.h"
#include "gmp/g.h"
#include "gmp/wake_words.h"
#include "queue/local_queue.h"
#include "stack/depot.h"

namespace vole::rt {

using namespace base;

struct M;

inline constexpr std::uint32_t kStackCache = 32;

// A count with one writer at a time and many readers.
class owner_count {
 public:
  void add_owner(std::uint64_t n = 1) noexcept { n_.store(n_.load(relaxed) + n, relaxed); }
  std::uint64_t get() const noexcept { return n_.load(relaxed); }

 private:
  atomic<std::uint64_t> n_{0};
};

struct alignas(64) P {
  // ── the queue, where thieves look ──
  atomic<runnable*> runnext{nullptr};  // [5] a newborn; owner stores, thieves may take
  std::uint32_t id = 0;
  wake_policy::p_words wakes;
  local_queue ring;

  // ── the queue, where they do not ── owner; sysmon reads
  alignas(64) atomic<runnable*> ready_next{nullptr};  // readied last, runs next: see sched/work/wake.h
  owner_count switches;
  base::presence* presence = nullptr;  // which of its own locks it is inside (base/bias.h)
  atomic<std::uint32_t> schedtick{0};
  std::int64_t oldest_at = 0;          // coarse clock: when the ring's oldest was last preferred
  bool adds_to_backlog = false;                // the last spill added to a backlog in the global queue

  // ── caches ──
  std::uint32_t stacks = 0;            // cached stacks of the default size
  free_records free_gs;                // [31]
  std::uint64_t next_id = 0;           // goroutine ids [next_id, end_id) are ours to give
  std::uint64_t end_id = 0;
  rt::stack stack_cache[kStackCache];

  // ── counts ──
  owner_count spawned, finished, steals, stolen, overflows, hand_offs, preemptions, evictions,
      hooked_waits;
  owner_count rests;                   // how often it became idle

  // ── ownership ──
  alignas(64) atomic<M*> m{nullptr};   // written by the owner; the world-stopper reads
  p_status_word status;
  atomic<std::uint32_t> safe_point{0};  // a function is to be run for it: sched/hold/safe_point.h
  P* next = nullptr;                   // idle list; under the scheduler lock
  M* taken_from = nullptr;             // the world-stopper's: the M that gets it back
  bool was_idle = false;               // the world-stopper: it took it from the idle list
};

// The only way a P changes status.
inline void set_status(P& p, p_status to) noexcept {
#ifdef VOLE_CHECKED
  check_status(p, to);
#endif
  p.status.now_.store(to, relaxed);
}

}  // namespace vole::rt
