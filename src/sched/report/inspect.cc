#include "sched/report/inspect.h"

#include "sched/life/call.h"
#include "sched/life/enter.h"
#include "sched/wait/place.h"
#include "sched/run/lifecycle.h"
#include "sched/report/question.h"
#include "sched/state.h"
#include "sched/life/value_move.h"
#include "sched/hold/world.h"
#include "stack/depot.h"

namespace vole::rt {
namespace {

// Keeps the runtime from ending under a plain thread; a goroutine that stops the world keeps it so.
class visit {
 public:
  visit() noexcept : guest_(this_m() == nullptr), running_(!guest_ || guest_enter()) {
    refuse_in_value_move();
    lifecycle::refuse_forked_child();
  }
  ~visit() {
    if (guest_) guest_leave();
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  bool running() const noexcept { return running_; }

 private:
  bool guest_, running_;
};

// The same for a thread that only reads. A goroutine enters: in user code it could become a zombie,
// and the records it reads would be gone.
class reading {
 public:
  reading() noexcept : m_(enter_as(this_m(), running_)) {}
  ~reading() { leave_either(m_); }
  reading(const reading&) = delete;
  reading& operator=(const reading&) = delete;
  bool running() const noexcept { return running_; }

 private:
  bool running_;
  M* m_;
};

void add_counts_of(const P& p, snapshot& s) noexcept {
  s.spawned += p.spawned.get();
  s.switches += p.switches.get();
  s.steals += p.steals.get();
  s.stolen += p.stolen.get();
  s.overflows += p.overflows.get();
  s.hand_offs += p.hand_offs.get();
  s.preemptions += p.preemptions.get();
  s.evictions += p.evictions.get();
  s.hooked_waits += p.hooked_waits.get();
  s.local_queues += p.ring.size() + (p.runnext.load(relaxed) != nullptr ? 1u : 0u) +
                    (p.ready_next.load(relaxed) != nullptr ? 1u : 0u);
}

}  // namespace

snapshot take_snapshot() noexcept {
  snapshot s{};
  lifecycle::refuse_forked_child();
  const reading inside;
  s.zombies = sched.zombies.load(relaxed);
  if (!inside.running()) return s;
  s.procs = sched.procs.load(relaxed);
  s.idle_procs = sched.idle_p_count.load(relaxed);
  s.spinning = sched.parking.spinning.load(relaxed);
  s.global_queue = sched.global_now();
  for (const atomic<P*>& slot : sched.all) {  // all deaths before all births: never too few alive
    const P* const p = slot.load(std::memory_order_acquire);
    if (p == nullptr) break;
    s.finished += p->finished.get();
  }
  s.spawned = sched.guest_spawned.load(relaxed);
  for (const atomic<P*>& slot : sched.all) {  // Ps that are gone keep their counts
    const P* const p = slot.load(std::memory_order_acquire);
    if (p == nullptr) break;
    add_counts_of(*p, s);
  }
  s.hooked_migrations = sched.hooked_migrations.load(relaxed);
  sched.lock.acquire();
  s.threads = sched.m_count;
  s.idle_threads = static_cast<std::uint32_t>(sched.idle_ms.size());
  m_slab.for_each([&](const M* m) {
    const bool busy = m->alive.load(std::memory_order_acquire) && !m->idle.load(relaxed);
    s.in_calls += busy && is_in_call(*m) ? 1u : 0u;
  });
  sched.lock.release();
  const depot::counts stacks = depot::count();
  s.stacks_held = stacks.held;
  s.stacks_hot = stacks.hot;
  s.stacks_cold = stacks.cold;
  return s;
}

std::uint64_t current_id() noexcept {
  const M* const m = this_m();
  return m != nullptr ? m->curg->id : 0;
}

bool take_picture(capture& c, bool ask_running) noexcept {
  const visit inside;
  if (!inside.running()) return true;
  own_stack mine;
  mine.take();
  if (!c.prepare()) return false;
  const M* const m = this_m();
  questions asked;
  world::stop("dump");
  c.take(m != nullptr ? m->curg : nullptr, &mine, true, ask_running ? &asked : nullptr);
  world::start();
  c.take_answers(asked);
  return true;
}

}  // namespace vole::rt
