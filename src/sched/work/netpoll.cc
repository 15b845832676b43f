#include "sched/work/netpoll.h"

#include "os/os.h"
#include "sched/work/env.h"
#include "sched/work/find.h"
#include "sched/work/home.h"
#include "sched/park.h"
#include "sched/state.h"
#include "sched/wake_policy/policy.h"
#include "sched/work/wake.h"
#include "trace/emit.h"

namespace vole::rt {
woken_list wake_complete(poll::completions& done) noexcept {
  woken_list list;
  while (waiter* const w = done.pop()) {
    if (w->g == nullptr) {
      wake(nullptr, w, poll::kReadyAgain);
      continue;
    }
    G* const g = w->g;
    g->wake_value = poll::kReadyAgain;
    if (trace::is_on()) [[unlikely]] trace::unblocked(nullptr, *g);
    set_status(*g, g_status::waiting, g_status::runnable);
    if (g->homed) {
      home::deliver(g);
      continue;
    }
    g->next = nullptr;
    (list.last != nullptr ? list.last->next : list.first) = g;
    list.last = g;
    ++list.count;
  }
  return list;
}

void inject_owner(M& m, const woken_list& list) noexcept {
  for (runnable* r = list.first; r != nullptr;) {
    runnable* const next = r->next;
    put_in_turn_owner(*m.p, r);
    r = next;
  }
  if (!wake_policy::polled_pays()) return wake_policy::keeps_batch(*m.p);  // sysmon will call, if need be
  if (list.count < 2) return;
  fence_seq_cst();  // S2
  submit_on_probation(*m.p, wake_policy::probation::polled);
}

runnable* find_polled(M& m) noexcept {
  std::int64_t last = sched.last_poll.load(relaxed);
  if (last == 0 || poll::open_count() == 0) return nullptr;
  if (sched.looking.load(relaxed) || sched.looking.exchange(true, seq_cst)) return nullptr;
  poll::completions done;
  poll::wait(0, done);
  sched.last_poll.compare_exchange_strong(last, os::now_ns(), seq_cst);
  sched.looking.store(false, seq_cst);
  if (done.first == nullptr) return nullptr;
  const woken_list list = wake_complete(done);
  if (list.count == 0) return nullptr;  // all have a home
  inject_owner(m, list);
  return find_local(*m.p);
}

bool poll_for_others(std::int64_t now, std::int64_t patience) noexcept {
  std::int64_t last = sched.last_poll.load(relaxed);
  if (last == 0 || now - last < patience || poll::open_count() == 0) return false;
  if (!sched.last_poll.compare_exchange_strong(last, now, seq_cst)) return false;
  poll::completions done;
  poll::wait(0, done);
  const woken_list list = wake_complete(done);
  if (list.count == 0) return false;
  sched.lock.acquire();
  sched.global.append_locked(list.first, list.count);
  sched.lock.release();
  submit();
  return true;
}

void network_in_use() noexcept {
  if (sched.last_poll.load(seq_cst) != 0) submit();
}

}  // namespace vole::rt
