#include "sched/timers.h"

#include <utility>

#include "base/fatal.h"
#include "base/lock.h"
#include "os/os.h"
#include "sched/sysmon.h"

namespace vole::rt {

using namespace base;

namespace {

constinit lock<lock_rank::timer> guard;
constinit timer_heap heap;                 // under guard
constinit atomic<timer*> firing{nullptr};  // off the heap, its function running

}  // namespace

void add_timer(timer* t, std::int64_t when) noexcept {
  t->when = when;
  guard.acquire();
  if (!heap.push(t)) fatal("out of memory: no room for a timer. A higher memory limit would help");
  const bool is_first = heap.first_when() == when;
  guard.release();
  if (is_first) sysmon::wake_by(when);
}

bool stop_timer(timer* t) noexcept {
  guard.acquire();
  const bool pending = t->place != timer::kNowhere;
  if (pending) heap.remove(t);
  guard.release();
  // Its function may be running, and the record may be used by it. It never blocks.
  while (firing.load(std::memory_order_acquire) == t) os::yield_thread();  // pairs: fire_due_timers
  return pending;
}

std::int64_t fire_due_timers(std::int64_t now) noexcept {
  for (;;) {
    guard.acquire();
    timer* const t = heap.pop_due(now);
    const std::int64_t next = heap.empty() ? kNoTimer : heap.first_when();
    if (t != nullptr) firing.store(t, relaxed);
    guard.release();
    if (t == nullptr) return next;
    t->fire(t);
    firing.store(nullptr, std::memory_order_release);  // pairs: stop_timer
  }
}

std::size_t pending_timers() noexcept {
  holding hold(guard);
  return heap.size() + (firing.load(relaxed) != nullptr ? 1 : 0);
}

void forget_timers() noexcept {
  timer* told = nullptr;  // those who want to know, through `arg`
  guard.acquire();
  heap.clear([&told](timer* t) {
    if (t->forgotten != nullptr) t->arg = std::exchange(told, t);
  });
  guard.release();
  while (told != nullptr) {
    timer* const t = std::exchange(told, static_cast<timer*>(told->arg));
    t->forgotten(t);
  }
}

}  // namespace vole::rt
