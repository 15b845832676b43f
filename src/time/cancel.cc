#include "time/cancel.h"

#include <utility>

#include "chan/core.h"
#include "sched/wait/p_timers.h"
#include "time/detached_call.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

using namespace base;

// The part of a cancellation that is left to be done in user context. Each pointer holds a reference.
struct aftermath {
  cancel_node* root = nullptr;     // the cancellation's own reference
  cancel_node* nodes = nullptr;    // cancelled by us; through `after`
  cancel_link* watches = nullptr;  // through `next`
  cancel_link* late = nullptr;     // children that others had cancelled already; through `next`
  bool empty() const noexcept {
    return root == nullptr && nodes == nullptr && watches == nullptr && late == nullptr;
  }
};

cancel_node* node_of(cancel_link* l) noexcept { return static_cast<cancel_node*>(l); }

void push(cancel_link*& list, cancel_link* l) noexcept { l->next = std::exchange(list, l); }

// False: it is cancelled already; then done is closed as well.
bool mark(cancel_node& n, errc why, const std::exception_ptr& cause, M* m,
          cancel_link*& children) noexcept {
  n.lock.acquire();
  if (n.now.load(relaxed) != cancel_node::live) {
    n.lock.release();
    if (n.now.load(acquire) != cancel_node::closed) chan_close_inside(*access::core(n.done), m);
    return false;
  }
  race::release(&n.now);
  n.why = why;
  n.cause = cause;
  n.now.store(cancel_node::decided, release);  // pairs: error
  children = std::exchange(n.children, nullptr);
  rt::interrupt* claimed = n.claim_all_locked(m);
  const bool armed = n.armed;
  race::acquire(&n.source);
  n.must_stop = n.source.stop_possible();
  n.lock.release();
  chan_close_inside(*access::core(n.done), m);
  n.now.store(cancel_node::closed, release);  // pairs: error
  while (claimed != nullptr) {
    rt::interrupt* const i = std::exchange(claimed, claimed->next);
    i->fire(*i, m);
  }
  if (armed) rt::stop_timer(&n.clock);
  return true;
}

// Cancels the root and all contexts below it. Takes over a reference to the root, since a goroutine
// that is woken may drop its own.
aftermath cancel_tree(cancel_node& root, errc why, const std::exception_ptr& cause, M* m) noexcept {
  aftermath left;
  left.root = &root;
  cancel_link* pending = nullptr;
  if (!mark(root, why, cause, m, pending)) return left;
  if (root.above == nullptr || !disown_inside(*root.above, root)) share_context(&root);
  left.nodes = &root;
  while (pending != nullptr) {
    cancel_link* const l = std::exchange(pending, pending->next);
    cancel_link* children = nullptr;
    if (l->is_watch) {
      push(left.watches, l);
    } else if (!mark(*node_of(l), why, cause, m, children)) {
      push(left.late, l);
    } else {
      node_of(l)->after = std::exchange(left.nodes, node_of(l));
      while (children != nullptr) push(pending, std::exchange(children, children->next));
    }
  }
  return left;
}

// In place: an abandoned goroutine leaves what it has not done.
void finish(aftermath& left) {
  while (left.watches != nullptr) start_watch(*std::exchange(left.watches, left.watches->next));
  while (left.nodes != nullptr) {
    if (left.nodes->must_stop) stop(left.nodes->source);
    drop_context(std::exchange(left.nodes, left.nodes->after));
  }
  while (left.late != nullptr) drop_context(node_of(std::exchange(left.late, left.late->next)));
  drop_context(std::exchange(left.root, nullptr));
}

// Drops references after the runtime has ended, when no user code may run, not even the destructors of
// values and causes: their memory is lost.
void forget_context(context_node* n) noexcept {
  while (n != nullptr && n->references.fetch_sub(1, acq_rel) == 1) {
    const bool is_ours = n->canceler == n && n->canceler->cause == nullptr && n->canceler->late == nullptr;
    if (!is_ours) return;
    context_node* const above = n->parent;
    delete n;
    n = above;
  }
}

// The same for what a cancellation had still to do.
void forget(aftermath& left) noexcept {
  while (left.watches != nullptr) forget_watch(*std::exchange(left.watches, left.watches->next));
  while (left.nodes != nullptr) forget_context(std::exchange(left.nodes, left.nodes->after));
  while (left.late != nullptr) forget_context(node_of(std::exchange(left.late, left.late->next)));
  forget_context(std::exchange(left.root, nullptr));
}

// False: it is the last reference. To drop that one is for user context.
bool drop_unless_last(context_node& n) noexcept {
  std::uint32_t seen = n.references.load(relaxed);
  while (seen > 1)
    if (n.references.compare_exchange_weak(seen, seen - 1, acq_rel, relaxed)) return true;
  return false;
}

bool share_unless_gone(context_node& n) noexcept {
  std::uint32_t seen = n.references.load(relaxed);
  while (seen != 0)
    if (n.references.compare_exchange_weak(seen, seen + 1, relaxed, relaxed)) return true;
  return false;
}

void finish_elsewhere(aftermath left, void* created_at, M* m) noexcept {
  static_assert(sizeof(left) <= rt::kInlineCallable);
  const rt::birth b{[](void* callable) { finish(*static_cast<aftermath*>(callable)); },
                    [](void* callable, bool running) noexcept {
                      if (!running) forget(*static_cast<aftermath*>(callable));
                    }};
  rt::spawn_from_timer(m, b, created_at, &left, sizeof(left));
}

// Inside, on a goroutine, which may be abandoned as soon as it has left; then nobody finds the
// references it holds. So everything is done here but user code and the end of records. The rest gets
// a goroutine of its own, except stop requests that the caller will make itself: they are returned.
aftermath finish_inside(aftermath left, bool caller_stops, void* created_at, M* m) noexcept {
  aftermath rest, stops;
  while (left.watches != nullptr) {
    cancel_link* const l = std::exchange(left.watches, left.watches->next);
    if (!start_watch_inside(*l, m) && !drop_watch_unless_last(*l)) push(rest.watches, l);
  }
  while (left.nodes != nullptr) {
    cancel_node* const n = std::exchange(left.nodes, left.nodes->after);
    if (!n->must_stop && drop_unless_last(*n)) continue;
    cancel_node*& list = n->must_stop && caller_stops ? stops.nodes : rest.nodes;
    n->after = std::exchange(list, n);
  }
  while (left.late != nullptr) {
    cancel_link* const l = std::exchange(left.late, left.late->next);
    if (!drop_unless_last(*node_of(l))) push(rest.late, l);
  }
  if (!drop_unless_last(*left.root)) rest.root = left.root;
  if (!rest.empty()) finish_elsewhere(rest, created_at, m);
  return stops;
}

// `left` lies where somebody will find it if we are abandoned, or nowhere: then a goroutine that is
// abandoned in the middle of its stop requests loses the references that it has not dropped.
void cancel_into(aftermath& left, cancel_node& n, errc why, const std::exception_ptr& cause) {
  if (n.now.load(acquire) == cancel_node::closed) return;
  rt::inside([&](M* m) noexcept {
    share_context(&n);
    left = cancel_tree(n, why, cause, m);
    if (m != nullptr) left = finish_inside(left, true, left.root->created_at, m);
  });
  finish(left);
}

// The deadline's goroutine: g0 must run no user code. What it has not done yet is in its record,
// so that nothing is lost if the runtime ends first.
struct expiry {
  cancel_node* node;
  aftermath left;

  static void invoke(void* callable) {
    struct let_go {
      expiry& mine;
      ~let_go() { drop_context(std::exchange(mine.node, nullptr)); }
    } const at_the_end{*static_cast<expiry*>(callable)};
    expiry& mine = at_the_end.mine;
    race::acquire(&mine.node->clock);
    cancel_into(mine.left, *mine.node, errc::deadline_exceeded, mine.node->late);
  }
  static void abandon(void* callable, bool running) noexcept {
    if (running) return;
    auto& mine = *static_cast<expiry*>(callable);
    forget(mine.left);
    forget_context(mine.node);
  }
};
static_assert(sizeof(expiry) <= rt::kInlineCallable);

// The record lives: it is cancelled before it is freed, and that waits for us (stop_timer).
void expire(rt::timer* t, M* m) noexcept {
  auto* const n = static_cast<cancel_node*>(t->arg);
  share_context(n);
  const expiry e{n, {}};
  rt::spawn_from_timer(m, {&expiry::invoke, &expiry::abandon}, n->created_at, &e, sizeof(e));
}

}  // namespace

cancel_node::cancel_node(context_node* from, std::int64_t when, void* site, chan<> d) noexcept
    : context_node(from),
      cancel_link(false),
      above(canceler),
      deadline(above != nullptr && above->deadline <= when ? above->deadline : when),
      own_deadline(when != kNeverNs && (above == nullptr || when < above->deadline)),
      created_at(site),
      done(std::move(d)) {
  canceler = this;
}

std::error_code cancel_node::error() const noexcept {
  const state s = now.load(acquire);  // pairs: mark
  if (s == live) return {};
  race::acquire(&now);
  if (s == decided) {  // a guest, since this may be a stop callback
    rt::guest_enter_anywhere();
    chan_close_inside(*access::core(done), nullptr);
    rt::guest_leave();
  }
  return make_error_code(why);
}

// No reference of ours keeps the node: the callback does, whose end its destructor waits for. So it
// is there, but perhaps on its way out, and then it is cancelled.
void cancel_node::on_stop::operator()() const noexcept {
  if (!share_unless_gone(*node)) return;
  rt::guest_enter_anywhere();
  aftermath left = cancel_tree(*node, errc::canceled, nullptr, nullptr);
  if (rt::on_goroutine()) left = finish_inside(left, false, node->created_at, nullptr);
  rt::guest_leave();
  finish(left);
}

bool adopt(cancel_node& n, cancel_link& l) noexcept {
  bool adopted = false;
  rt::inside([&](M*) noexcept {
    holding hold(n.lock);
    if (n.now.load(relaxed) != cancel_node::live) return;
    adopted = true;
    l.prev = nullptr;
    l.next = n.children;
    if (l.next != nullptr) l.next->prev = &l;
    n.children = &l;
  });
  return adopted;
}

bool disown_inside(cancel_node& n, cancel_link& l) noexcept {
  holding hold(n.lock);
  if (n.now.load(relaxed) != cancel_node::live) return false;
  (l.prev != nullptr ? l.prev->next : n.children) = l.next;
  if (l.next != nullptr) l.next->prev = l.prev;
  return true;
}

void cancel(cancel_node& n, errc why, const std::exception_ptr& cause) {
  aftermath left;
  cancel_into(left, n, why, cause);
}

void cancel_on_service_thread(cancel_node& n, const std::exception_ptr& cause) {
  const bool has_runtime = rt::guest_enter();
  share_context(&n);
  aftermath left = cancel_tree(n, errc::canceled, cause, nullptr);
  if (has_runtime) left = finish_inside(left, false, n.created_at, nullptr);
  rt::guest_leave();
  finish(left);
}

void start_clock(cancel_node& n) noexcept {
  n.clock.fire = &expire;
  n.clock.arg = &n;
  race::release(&n.clock);
  inside_started([&n](M* m) noexcept {
    holding hold(n.lock);
    if (n.now.load(relaxed) != cancel_node::live) return;
    n.armed = true;
    rt::add_timer(m, &n.clock, n.deadline);
  });
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
