#include "sched/midwife.h"

#include <new>

#include "base/fatal.h"
#include "base/list.h"
#include "os/os.h"
#include "sched/state.h"
#include "sched/thread.h"

namespace vole::rt::midwife {
namespace {

struct office {
  base::lock<lock_rank::midwife> lock;
  fifo<M, &M::next> waiting;               // under lock: to be born
  fifo<M, &M::next> departed;              // under lock: their threads are ending [25]
  atomic<std::uint32_t> bell{0};           // grows with every request
  atomic<bool> closing{false};
  os::thread thread;
};
constinit office desk;

void give_birth(M* m) noexcept {
  os::thread_spec spec;
  spec.main = &m_main;
  spec.arg = m;
  spec.name = "vole-m";
  const int error = os::create_thread(&m->thread, spec);
  if (error == 0) return;
  sched.lock.acquire();
  const std::uint32_t have = sched.m_count;
  sched.lock.release();
  fatal(sentence() << "cannot create a thread (" << os::error_text(error) << "); the runtime has "
                   << have - 1
                   << " already. Raise `ulimit -u`, the cgroup's pids.max or the memory limit");
}

void bury_thread(M* m) noexcept {
  os::join_thread(m->thread);
  sched.lock.acquire();
  --sched.m_count;
  m->alive.store(false, relaxed);
  sched.free_ms.push(m);
  sched.lock.release();
}

void midwife_main(void*) noexcept {
  for (;;) {
    const std::uint32_t rung = desk.bell.load(std::memory_order_acquire);  // pairs: ring
    desk.lock.acquire();
    M* const newborn = desk.waiting.pop_front();
    M* const dead = newborn == nullptr ? desk.departed.pop_front() : nullptr;
    desk.lock.release();
    if (newborn != nullptr) {
      give_birth(newborn);
    } else if (dead != nullptr) {
      bury_thread(dead);
    } else if (desk.closing.load(std::memory_order_acquire)) {
      return;
    } else {
      futex_wait(&desk.bell, rung);
    }
  }
}

void ring() noexcept {
  desk.bell.fetch_add(1, std::memory_order_release);  // pairs: midwife_main
  futex_wake(&desk.bell, 1);
}

}  // namespace

M* new_m_locked() noexcept {
  if (sched.m_count >= sched.settings.max_threads) {
    fatal(sentence() << "thread exhaustion: the program needs more than "
                     << sched.settings.max_threads
                     << " threads. Usually many goroutines each hold one: by lock_os_thread, or "
                        "blocked in a call. Have fewer of them at once, or raise the limit with "
                        "set_max_threads");
  }
  M* m = sched.free_ms.pop();
  if (m != nullptr) m->~M();
  if (m == nullptr) m = m_slab.allocate_raw();
  if (m == nullptr) fatal("out of memory: no room for a thread's record. A higher memory limit would help");
  new (m) M;
  m->id = sched.next_m_id.fetch_add(1, relaxed);
  m->alive.store(true, std::memory_order_release);
  ++sched.m_count;
  return m;
}

void deliver(M* m) noexcept {
  desk.lock.acquire();
  desk.waiting.push_back(m);
  desk.lock.release();
  ring();
}

void bury(M* m) noexcept {
  desk.lock.acquire();
  desk.departed.push_back(m);
  desk.lock.release();
  ring();
}

int start() noexcept {
  desk.closing.store(false, relaxed);
  os::save_signal_mask();
  os::thread_spec spec;
  spec.main = &midwife_main;
  spec.name = "vole-midwife";
  spec.block_signals = true;
  return os::create_thread(&desk.thread, spec);
}

void stop() noexcept {
  desk.closing.store(true, std::memory_order_release);
  ring();
  os::join_thread(desk.thread);
}

}  // namespace vole::rt::midwife
