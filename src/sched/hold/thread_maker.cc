#include "sched/hold/thread_maker.h"

#include <new>

#include "base/fatal.h"
#include "base/list.h"
#include "base/note.h"
#include "os/os.h"
#include "sched/state.h"
#include "sched/hold/thread.h"
#include "sched/wake_policy/policy.h"
#include "trace/emit.h"

namespace vole::rt::thread_maker {
namespace {

struct maker_state {
  base::lock<lock_rank::thread_maker> lock;
  fifo<M, &M::next> waiting VOLE_GUARDED_BY(lock);  // threads that are to be made
  atomic<std::uint32_t> wake_word{0};           // grows with every request
  atomic<bool> closing{false};
  os::thread thread;
  note begun;
  atomic<std::uint64_t> tid{0};
  atomic<std::int64_t> birth_began{0};     // 0: none is under way
  atomic<std::uint32_t> pending{0};        // threads begun, less those that have come to m_main
  atomic<std::int64_t> pending_since{0};    // the last of either, roughly
};
constinit maker_state own;
constinit atomic<bool> told{false};

constexpr std::int64_t kTryAgain = 1000 * 1000 * 1000;  // ns, after the kernel has refused

void tell_once(sentence& s) noexcept {
  if (told.exchange(true, seq_cst)) return;
  s << ": goroutines that block or never yield now hold up others\n";
  s.print();
}

// A record whose thread has ended, made as new. Not by construction: a stopper that once read it
// from a P may be about to take its retake lock, and will then find that it has no P.
void renew(M& m) noexcept {
  holding hold(m.retake_lock);
  m.hot.attention.store(0, seq_cst);
  m.picked = nullptr;
  lock_m_to(m, nullptr);
  m.home.shut.store(false, relaxed);
  m.home.in_a_row = 0;
  m.lock_depth = 0;
  m.ends_with_g = false;
  m.away = m.last_p = nullptr;
  m.patient = false;
  m.call.store(0, relaxed);
  wake_policy::is_new(m);
  m.alternate_stack = nullptr;
  m.san = {};
}

// A goroutine that runs without a P, or was captured and will be released, comes back for one.
bool anybody_without_p() noexcept {
  return sched.evicted.load(seq_cst) != 0 || sched.captured_ms.load(seq_cst) != 0;
}

// The kernel refused m's thread. If others run without a P, its P waits for one of them.
bool called_off(M* m, int error) noexcept {
  sched.lock.acquire();
  const bool can_wait = anybody_without_p();
  if (can_wait) {
    call_off_locked(*m);
    set_status(*m, m_status::free);
    --sched.m_count;
    sched.free_ms.push(m);
    sched.refused_at = os::now_ns();
  }
  sched.lock.release();
  if (!can_wait) return false;
  sentence s;
  s << "vole: cannot create a thread (" << os::error_text(error) << ")";
  tell_once(s);
  return true;
}

void give_birth(M* m) noexcept {
  os::thread_spec spec;
  spec.main = &m_main;
  spec.arg = m;
  spec.name = "vole-m";
  os::thread born;  // m may be over before we know: from here on it is not ours
  const std::int64_t now = os::now_ns();
  own.birth_began.store(now, relaxed);
  // The time first: with an old one sysmon would believe that this call is held up.
  if (own.pending.load(relaxed) == 0) own.pending_since.store(now, relaxed);
  own.pending.fetch_add(1, std::memory_order_release);  // pairs: is_held_up
  const int error = os::create_thread(&born, spec);
  own.birth_began.store(0, relaxed);
  if (error == 0) return;
  own.pending.fetch_sub(1, relaxed);
  if (called_off(m, error)) return;
  sched.lock.acquire();
  const std::uint32_t have = sched.m_count;
  sched.lock.release();
  fatal(sentence() << "cannot create a thread (" << os::error_text(error) << "); the runtime has "
                   << have - 1
                   << " already. Raise `ulimit -u`, the cgroup's pids.max or the memory limit");
}

void thread_maker_main(void*) noexcept {
  own.tid.store(os::thread_id(), relaxed);
  own.begun.wake();
  for (;;) {
    const std::uint32_t seen_word = own.wake_word.load(std::memory_order_acquire);  // pairs: rouse
    own.lock.acquire();
    M* const newborn = own.waiting.pop_front();
    own.lock.release();
    if (newborn != nullptr) {
      give_birth(newborn);
    } else if (own.closing.load(std::memory_order_acquire)) {
      return;
    } else {
      futex_wait(&own.wake_word, seen_word);
    }
  }
}

void rouse() noexcept {
  own.wake_word.fetch_add(1, std::memory_order_release);  // pairs: thread_maker_main
  futex_wake(&own.wake_word, 1);
}

}  // namespace

bool may_grow_locked() noexcept {
  return sched.m_count < sched.settings.max_threads &&
         (sched.refused_at == 0 || os::now_ns() - sched.refused_at > kTryAgain);
}

void tell_limit() noexcept {
  sched.lock.acquire();
  const std::uint32_t limit = sched.settings.max_threads;
  sched.lock.release();
  sentence s;
  s << "vole: the limit of " << limit << " threads is reached";
  tell_once(s);
}

M* new_m_locked() noexcept {
  if (sched.m_count >= sched.settings.max_threads) {
    if (anybody_without_p()) return nullptr;
    fatal(sentence() << "thread exhaustion: the program needs more than "
                     << sched.settings.max_threads
                     << " threads. Usually many goroutines each hold one: by lock_os_thread, or "
                        "blocked in a call. Have fewer of them at once, or raise the limit with "
                        "set_max_threads");
  }
  M* m = sched.free_ms.pop();
  if (m != nullptr) {
    renew(*m);
  } else {
    m = m_slab.make();  // a trace or a dump may be looking
  }
  if (m == nullptr)
    fatal("out of memory: no room for a thread's record. A higher memory limit would help");
  m->id = sched.next_m_id.fetch_add(1, relaxed);
  trace::become_quiet(m->hot);  // until it runs
  trace::flag(*m, trace::is_on());
  set_status(*m, m_status::awake);
  ++sched.m_count;
  return m;
}

void deliver(M* m) noexcept {
  own.lock.acquire();
  own.waiting.push_back(m);
  own.lock.release();
  rouse();
}

void arrived() noexcept {
  own.pending_since.store(os::now_ns(), relaxed);
  own.pending.fetch_sub(1, relaxed);
}

bool is_held_up(std::int64_t now) noexcept {
  constexpr std::int64_t kLong = 1000 * 1000;       // ns
  constexpr std::int64_t kTooLong = 10 * kLong;
  if (own.pending.load(std::memory_order_acquire) != 0 && now - own.pending_since.load(relaxed) > kTooLong) return true;
  const std::int64_t began = own.birth_began.load(relaxed);
  return began != 0 && now - began > kLong &&
         os::state_of(own.tid.load(relaxed)) == os::thread_state::sleeping;
}

int start() noexcept {
  own.closing.store(false, relaxed);
  own.pending.store(0, relaxed);
  told.store(false, relaxed);
  os::save_signal_mask();
  os::thread_spec spec;
  spec.main = &thread_maker_main;
  spec.name = "vole-maker";
  spec.block_signals = true;
  own.begun.clear();
  const int error = os::create_thread(&own.thread, spec);
  if (error == 0) own.begun.sleep();
  return error;
}

void stop() noexcept {
  own.closing.store(true, std::memory_order_release);
  rouse();
  os::join_thread(own.thread);
}

}  // namespace vole::rt::thread_maker
