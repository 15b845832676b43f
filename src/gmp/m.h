// M: an operating-system thread that runs goroutines.
//
// Law    hot.p == p, except while a taker looks (then hot.p is null) and after it
//        has succeeded (then both are null). Both change under retake_lock only.
// Note   inside the runtime read `p`, never hot.p: a taker may be hiding it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/context.h"
#include "arch/exception_globals.h"
#include "arch/offsets.h"
#include "arch/sanitizer.h"
#include "base/lock.h"
#include "base/note.h"
#include "base/rand.h"
#include "gmp/g.h"
#include "gmp/hot_words.h"
#include "gmp/traced.h"
#include "gmp/wake_words.h"
#include "os/os.h"

namespace vole::rt {

struct M;
struct P;

// Is in a queue for the goroutine that was captured with its thread (sched/hold/strict.h).
struct stand_in : runnable {
  stand_in() noexcept {
    kind = runnable_kind::stand_in;
    locked = 1;
  }
  M* of = nullptr;
  atomic<bool> queued{false};
};

struct alignas(64) M {
  hot_words<P> hot;

  // ── switch ── owner: this thread, in the runtime
  G* curg = nullptr;              // the goroutine on this M; null: g0
  commit_fn commit = nullptr;     // left behind by the goroutine that departed
  G* locked_g = nullptr;          // the goroutine that locked this thread; kLocked says so, too
  void* commit_arg = nullptr;
  union {
    G* commit_g = nullptr;
    std::uint32_t yield_value;    // with yield_word
  };
  P* p = nullptr;
  atomic<std::uint32_t>* yield_word = nullptr;  // instead of a commit: where to store yield_value
  arch::exception_globals* exceptions = nullptr;

  // blocking(): how many calls there were, and, in the lower half while in one, the P's tick + 1.
  // Owner; sysmon reads.
  atomic<std::uint64_t> call{0};

  runnable* picked = nullptr;     // chosen already; g0 runs it first
  void* g0_sp = nullptr;          // g0's context, while a goroutine runs
  std::uint32_t lock_depth = 0;   // how often locked_g has locked it
  bool ends_with_g = false;       // that goroutine has ended: so must the thread [25]
  bool spinning = false;
  wake_policy::m_words wakes;
  rand_state random;

  // ── threads ──
  lock<lock_rank::retake> retake_lock;
  P* away VOLE_GUARDED_BY(retake_lock) = nullptr;    // taken from us, and may still be given back
  bool patient VOLE_GUARDED_BY(retake_lock) = false;  // the kernel was asked to serve others first
  bool zombie = false;            // under retake_lock: the runtime ended without us
  struct {                        // the runtime's end looks at it: sched/run/end.cc
    std::int64_t cpu_first = 0, cpu = 0;  // ns; its CPU time, at first and last
    int still = 0, slept = 0;     // looks that found it asleep: the last ones, and all
  } end_look;
  P* last_p = nullptr;            // [24]: the P we had, tried first
  P* next_p = nullptr;            // written by the waker before the wake
  note park;                      // where an idle M sleeps
  bool must_end = false;          // written before the wake: end the thread
  M* next = nullptr;  // idle list, free list (scheduler lock), or the thread maker's list
  M* above = nullptr;             // idle list; under the scheduler lock
  m_status_word alive;            // the record belongs to a thread, or to one that is being made
  m_status_word idle;             // asleep on `park`, or about to be
  m_status_word polling;          // waits in the poller, without a P
  os::thread thread;
  std::byte* alternate_stack = nullptr;
  std::uint64_t id = 0;
  atomic<std::uint64_t> tid{0};   // the kernel's; written before it has its first P; sysmon reads
  arch::san_thread san;

  // ── goroutines that come back to this thread ── (sched/work/home.h)
  struct {
    base::lock<lock_rank::home> lock;
    runnable* first VOLE_GUARDED_BY(lock) = nullptr;  // the inbox, linked by `next`
    runnable* last VOLE_GUARDED_BY(lock) = nullptr;
    atomic<std::uint32_t> mail{0};         // how many are in it; written under the lock
    atomic<bool> shut{false};              // written under the lock
    atomic<std::uint32_t> goroutines{0};   // how many have their home here
    std::uint32_t in_a_row = 0;            // owner: how many were taken before others had a turn
  } home;

  // ── strict mode ── (sched/hold/strict.h)
  rt::stand_in stand_in;
  atomic<std::uint32_t> captured{
      0};                            // 1: asleep in the handler; making it 0 obliges to wake `park`
  atomic<bool> capturable{false};    // written by the handler; sysmon reads
  atomic<int> undisturbed{0};     // owner, in user code: holds locks of the runtime
  const P* slice_p = nullptr;     // the handler's: the P and tick that the last signal saw
  std::uint32_t slice_tick = 0;
  int slice_timer = -1;           // the kernel's

  // ── traces ──
  traced trace;

  // ── dumps ── (sched/report/question.h)
  atomic<std::uint32_t> question{0};  // the number of the one that it has not seen yet; 0: none
  atomic<const void*> captured_in{nullptr};  // strict mode: the captured thread's registers, a ucontext_t
  atomic<std::uint32_t> returns{0};  // how often it came in and found its P gone
};

// The only way an M changes status. seq_cst: deadlock.cc and the end of the runtime look.
inline void set_status(M& m, m_status to) noexcept {
#ifdef VOLE_CHECKED
  check_status(m, to);
#endif
  m.idle.set(to == m_status::idle, seq_cst);
  m.polling.set(to == m_status::polling, seq_cst);
  m.alive.set(to != m_status::free, std::memory_order_release);
}

inline void lock_m_to(M& m, G* g) noexcept {  // null: to none; owner
  m.locked_g = g;
  if (g != nullptr) {
    m.hot.unplain.fetch_or(hot_words<P>::kLocked, relaxed);
  } else {
    m.hot.unplain.fetch_and(~hot_words<P>::kLocked, relaxed);
  }
}

// M contains a stand-in: for offsetof the same holds as in g.h.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(M, hot) + offsetof(hot_words<P>, in_rt) == VOLE_M_IN_RT);
static_assert(offsetof(M, hot) + offsetof(hot_words<P>, attention) == VOLE_M_ATTENTION);
static_assert(offsetof(hot_words<P>, unplain) == VOLE_M_ATTENTION + 4);
static_assert(offsetof(M, curg) == VOLE_M_CURG);
static_assert(offsetof(M, commit) == VOLE_M_COMMIT);
static_assert(offsetof(M, g0_sp) == VOLE_M_G0_SP);
static_assert(offsetof(M, commit_arg) == VOLE_M_COMMIT_ARG);
static_assert(offsetof(M, commit_g) == VOLE_M_COMMIT_G);
static_assert(offsetof(M, yield_value) == VOLE_M_YIELD_VALUE);
static_assert(offsetof(M, yield_word) == VOLE_M_YIELD_WORD);
#pragma GCC diagnostic pop

}  // namespace vole::rt
