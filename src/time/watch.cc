// include/vole/context.h: after_func(ctx, fn), context_callback.
//
// Law    the party that clears `pending` decides: the cancellation starts the function, stop()
//        destroys it.
// Note   two references: the list's, which the goroutine takes over, and the handle's. The
//        handle keeps the context alive, the watch does not.
// Note   a context_callback waits for `over`, which is closed when the function is gone: by the
//        goroutine, or by the end of the runtime, which has abandoned that one.

#include <utility>

#include <vole/context.h>

#include "base/atomic.h"
#include "time/cancel.h"
#include "time/detached_call.h"

namespace vole {
inline namespace v0 {
namespace detail {

using namespace base;

class watch_node final : public cancel_link {
 public:
  watch_node(deferred_ptr f, chan<> o, void* site) noexcept
      : cancel_link(true), fn(f.release()), over(std::move(o)), created_at(site) {}

  // The goroutine's: the function is destroyed with it, even if a handle is left.
  static void work(watch_node& w) {
    struct end_of_fn {
      watch_node& mine;
      ~end_of_fn() {
        mine.end(true);
        mine.tell_over();
      }
    } const at_the_end{w};
    w.runner.store(rt::this_goroutine()->id, relaxed);
    w.fn->call(w.fn);
  }
  static void drop(watch_node* w) noexcept { let_go(w); }
  // Perhaps from the middle of work.
  static void forget(watch_node* w) noexcept {
    if (w->fn != nullptr) w->end(false);
    w->tell_over();
    let_go(w);
  }

  static void let_go(watch_node* w) noexcept {
    race::release(&w->references);
    if (!base::race::dropped(w->references.fetch_sub(1, acq_rel) == 1, &w->references)) return;
    if (w->fn != nullptr) w->end(true);
    delete w;
  }
  void end(bool destroy) noexcept {
    deferred* const mine = std::exchange(fn, nullptr);
    mine->end(mine, destroy);
  }

  void tell_over() const noexcept {
    if (over != nullptr) chan_close(access::core(over));
  }

  atomic<std::uint32_t> references{2};
  atomic<bool> pending{true};
  deferred* fn;  // owned; freed by the party that cleared `pending`, or with the last reference
  const chan<> over;  // a context_callback's; else nil
  atomic<std::uint64_t> runner{0};  // the id of the goroutine in `fn`; 0: none
  void* const created_at;
};

void start_watch(cancel_link& l) noexcept {
  auto* const w = static_cast<watch_node*>(&l);
  if (!w->pending.exchange(false, acq_rel)) return watch_node::let_go(w);  // pairs: stop_watch
  detached_call<watch_node>::start(w, w->created_at);
}

bool start_watch_inside(cancel_link& l, M* m) noexcept {
  auto* const w = static_cast<watch_node*>(&l);
  if (!w->pending.exchange(false, acq_rel)) return false;  // pairs: stop_watch
  detached_call<watch_node>::start_from_timer(m, w, w->created_at);
  return true;
}

bool drop_watch_unless_last(cancel_link& l) noexcept {
  atomic<std::uint32_t>& references = static_cast<watch_node*>(&l)->references;
  std::uint32_t seen = references.load(relaxed);
  while (seen > 1)
    if (references.compare_exchange_weak(seen, seen - 1, acq_rel, relaxed)) return true;
  return false;
}

void forget_watch(cancel_link& l) noexcept {
  auto* const w = static_cast<watch_node*>(&l);
  w->pending.exchange(false, acq_rel) ? watch_node::forget(w) : watch_node::let_go(w);
}

watch_node* watch(const context& ctx, deferred_ptr fn, bool is_awaited) {
  chan<> over = is_awaited ? chan<>() : chan<>(nullptr);
  auto* const w = new watch_node(std::move(fn), std::move(over), __builtin_return_address(0));
  detached_call<watch_node>::before(w);
  cancel_node* const n = canceler_of(ctx);
  if (n == nullptr) {
    watch_node::let_go(w);  // no list: it never runs
  } else if (!adopt(*n, *w)) {
    start_watch(*w);
  }
  return w;
}

bool stop_watch(const context& ctx, watch_node* w) {
  if (w == nullptr || !w->pending.exchange(false, acq_rel)) return false;  // pairs: start_watch
  w->end(true);
  cancel_node* const n = canceler_of(ctx);
  if (n == nullptr) return true;
  bool ours = false;
  rt::inside([&](M*) noexcept { ours = disown_inside(*n, *w); });
  if (ours) watch_node::let_go(w);
  return true;
}

void end_watch(const context& ctx, watch_node* w) {
  if (!stop_watch(ctx, w)) {
    const rt::G* const g = rt::this_goroutine();
    if (g == nullptr || w->runner.load(relaxed) != g->id) w->over.recv();
  }
  drop_watch(w);
}

void drop_watch(watch_node* w) noexcept {
  if (w != nullptr) watch_node::let_go(w);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
