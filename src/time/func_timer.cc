// include/vole/time.h: after_func(d, fn).
//
// Who    stop, reset: any thread. The clock: g0, which starts a goroutine and takes no
//        lock of ours: we wait for it under `lock` (stop_timer).
// Law    references: the handle's, the pending timer's, and one for each goroutine that runs
//        the function. A timer that fires hands its own to the goroutine.

#include <vole/time.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "sched/wait/p_timers.h"
#include "time/detached_call.h"

namespace vole {
inline namespace v0 {
namespace detail {

using namespace base;

class func_timer_node final : public rt::timer {
 public:
  func_timer_node(deferred_ptr f, void* site) noexcept : fn(f.release()), created_at(site) {
    fire = [](rt::timer* t, rt::M* m) noexcept {
      auto* const n = static_cast<func_timer_node*>(t);
      detached_call<func_timer_node>::start_from_timer(m, n, n->created_at);
    };
    forgotten = [](rt::timer* t) noexcept { forget(static_cast<func_timer_node*>(t)); };
  }

  static void work(func_timer_node& n) { n.fn->call(n.fn); }
  static void drop(func_timer_node* n) noexcept { let_go(n, true); }
  static void forget(func_timer_node* n) noexcept { let_go(n, false); }

  atomic<std::uint32_t> references{1};
  base::lock<lock_rank::object> lock;  // one start or stop at a time
  deferred* const fn;                  // owned
  void* const created_at;

 private:
  static void let_go(func_timer_node* n, bool destroy) noexcept {
    race::release(&n->references);
    if (!base::race::dropped(n->references.fetch_sub(1, acq_rel) == 1, &n->references)) return;
    n->fn->end(n->fn, destroy);
    delete n;
  }
};

namespace {

bool start(func_timer_node* n, std::int64_t when) noexcept {
  bool was_pending = false;
  detached_call<func_timer_node>::before(n);
  inside_started([&](rt::M* m) noexcept {
    holding hold(n->lock);
    was_pending = rt::stop_timer(n);
    if (!was_pending) n->references.fetch_add(1, relaxed);
    rt::add_timer(m, n, when);
  });
  return was_pending;
}

}  // namespace

func_timer_node* make_func_timer(deferred_ptr fn, std::int64_t when) {
  auto* const n = new func_timer_node(std::move(fn), __builtin_return_address(0));
  start(n, when);
  return n;
}

void drop_func_timer(func_timer_node* n) noexcept {
  if (n != nullptr) func_timer_node::drop(n);
}

bool stop_func_timer(func_timer_node* n) noexcept {
  if (n == nullptr) return false;
  bool was_pending = false;
  rt::inside([&](rt::M*) noexcept {
    holding hold(n->lock);
    was_pending = rt::stop_timer(n);
  });
  if (was_pending) func_timer_node::drop(n);
  return was_pending;
}

bool reset_func_timer(func_timer_node* n, std::int64_t when) noexcept {
  return n != nullptr && start(n, when);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
