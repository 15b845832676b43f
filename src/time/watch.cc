// include/vole/context.h: after_func(ctx, fn).
//
// Law    whoever takes `pending` decides: the cancellation, which starts the function, or
//        stop(), which destroys it.
// Note   two references: the list's, which the goroutine takes over, and the handle's. The
//        handle keeps the context alive, the watch does not.

#include <utility>

#include <vole/context.h>

#include "base/atomic.h"
#include "time/cancel.h"
#include "time/errand.h"

namespace vole {
inline namespace v0 {
namespace detail {

using namespace base;

class watch_node final : public cancel_link {
 public:
  watch_node(deferred_ptr f, void* site) noexcept
      : cancel_link(true), fn(f.release()), created_at(site) {}

  // The goroutine's: the function ends with it, whoever still has a handle.
  static void work(watch_node& w) { w.fn->call(w.fn); }
  static void drop(watch_node* w) noexcept {
    w->end(true);
    let_go(w);
  }
  static void forget(watch_node* w) noexcept {
    w->end(false);
    let_go(w);
  }

  static void let_go(watch_node* w) noexcept {
    if (w->references.fetch_sub(1, acq_rel) != 1) return;
    if (w->fn != nullptr) w->end(true);
    delete w;
  }
  void end(bool destroy) noexcept {
    deferred* const mine = std::exchange(fn, nullptr);
    mine->end(mine, destroy);
  }

  atomic<std::uint32_t> references{2};
  atomic<bool> pending{true};
  deferred* fn;  // owned; its end is up to whoever took `pending`, or to the last reference
  void* const created_at;
};

void start_watch(cancel_link& l, bool guest_inside) noexcept {
  auto* const w = static_cast<watch_node*>(&l);
  if (!w->pending.exchange(false, acq_rel)) return watch_node::let_go(w);  // pairs: stop_watch
  if (guest_inside) return errand<watch_node>::start_from_timer(nullptr, w, w->created_at);
  errand<watch_node>::start(w, w->created_at);
}

void forget_watch(cancel_link& l) noexcept {
  auto* const w = static_cast<watch_node*>(&l);
  w->pending.exchange(false, acq_rel) ? watch_node::forget(w) : watch_node::let_go(w);
}

watch_node* watch(const context& ctx, deferred_ptr fn) {
  auto* const w = new watch_node(std::move(fn), __builtin_return_address(0));
  cancel_node* const n = ctx.node() != nullptr ? ctx.node()->canceler : nullptr;
  if (n == nullptr) {
    watch_node::let_go(w);  // no list: it never runs
  } else if (!adopt(*n, *w)) {
    start_watch(*w, false);
  }
  return w;
}

bool stop_watch(const context& ctx, watch_node* w) {
  if (w == nullptr || !w->pending.exchange(false, acq_rel)) return false;  // pairs: start_watch
  w->end(true);
  cancel_node* const n = ctx.node() != nullptr ? ctx.node()->canceler : nullptr;
  if (n == nullptr) return true;
  bool ours = false;
  inside([&](M*) noexcept { ours = disown_inside(*n, *w); });
  if (ours) watch_node::let_go(w);
  return true;
}

void drop_watch(watch_node* w) noexcept {
  if (w != nullptr) watch_node::let_go(w);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
