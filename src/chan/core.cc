#include "chan/core.h"

#include <limits>
#include <new>
#include <stdexcept>

#include <vole/chan.h>
#include <vole/detail/left_behind.h>

#include "sched/life/value_move.h"
#include "sched/wait/place.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t kAlign = alignof(chan_core) > 16 ? alignof(chan_core) : 16;

std::size_t ring_offset(const chan_type& t) noexcept {
  return (sizeof(chan_core) + t.align - 1) / t.align * t.align;
}

std::align_val_t alignment_of(const chan_type& t) noexcept {
  return std::align_val_t{t.align > kAlign ? t.align : kAlign};
}

void free_core(chan_core* c) noexcept {
  const std::align_val_t alignment = alignment_of(c->type);
  c->~chan_core();
  ::operator delete(c, alignment);
}

// The last handle is gone. True: nobody will come back to it. The lock is held.
bool is_unused_locked(chan_core& c) noexcept {
  c.orphan = c.is_awaited_locked();
  return !c.orphan;
}

// Inside, without a P.
bool is_unused_by_word(chan_core& c) noexcept {
  c.lock.acquire();
  const bool unused = is_unused_locked(c);
  c.lock.release();
  return unused;
}

// A destructor may run in the middle of anything, a stop callback too: it neither parks nor changes
// threads, unless the runtime ends and our P is away already.
bool is_unused(M* m, chan_core& c) noexcept {
  if (m == nullptr) return rt::inside([&c](M*) { return is_unused_by_word(c); });
  if (!rt::enter_briefly(m)) {
    rt::leave_in_place(m);
    if (rt::visit_at_end()) {
      const bool unused = is_unused_by_word(c);
      rt::end_visit();
      return unused;
    }
    // The runtime ends, and a goroutine that enters now does not come back. A closed channel that
    // nobody waits on can be ended without entering.
    if (c.closed && !c.is_awaited_locked()) return true;
    m = rt::enter();
  }
  atomic<std::uint32_t>* const by = c.lock.take(rt::presence_of(m));
  const bool unused = is_unused_locked(c);
  c.lock.free(by);
  rt::leave_in_place(m);
  return unused;
}

// One waiter that was due has come back, or never will. True: the core is left, and ours to end.
bool is_last_due(chan_core& c) noexcept {
  c.lock.acquire();
  --c.due;
  const bool left = c.is_left_locked();
  c.lock.release();
  return left;
}

void unlink_due(void* channel, waiter*) noexcept {
  auto* const c = static_cast<chan_core*>(channel);
  if (is_last_due(*c)) chan_release(c);
}

// The waiter was in a queue, or due, until now. claimed: the clock has it, and its owner will come
// back in user context. Otherwise the runtime ends, and nobody comes back.
void leave_from_outside(chan_core& c, chan_waiters& q, waiter* w) noexcept {
  const bool comes_back = w->winner != nullptr && w->winner->load(relaxed) != 0;
  if (!comes_back) {
    if (leave_queue(c, q, w)) chan_release(&c);
    return;
  }
  c.lock.acquire();
  w->object != nullptr ? rt::wait_queue::remove(q, w) : static_cast<void>(--c.due);
  c.order.gives_up(c.is_sending(q));
  if (c.orphan) {
    ++c.due;
    w->object = &c;
    w->unlink = &unlink_due;  // if the runtime ends before it has let go
  }
  c.lock.release();
}

}  // namespace

void chan_core::move_by_call(void* to, void* from) const noexcept {
  const rt::value_move here;
  const base::race::unseen nobody;  // one moves what is the other's, before and after an edge
  type.move(to, from);
}

void chan_core::leave_by_call(void* moved_from) const noexcept {
  const rt::value_move here;
  const base::race::unseen nobody;
  type.leave(moved_from);
}

chan_core* chan_make(const chan_type& type, std::size_t capacity) {
  const std::size_t offset = ring_offset(type);
  if (capacity > (std::numeric_limits<std::size_t>::max() / 2 - offset) / type.size)
    throw std::length_error("vole::chan: the capacity is too large");
  chan_end_retired();
  const std::size_t bytes = offset + capacity * type.size;
  void* const memory = ::operator new(bytes + chan_order::room_for(capacity), alignment_of(type));
  auto* const c =
      ::new (memory) chan_core(type, capacity, static_cast<std::byte*>(memory) + offset);
  c->order.begin(capacity, static_cast<std::byte*>(memory) + bytes);
  return c;
}

chan_core* chan_share(chan_core* c) noexcept {
  if (c != nullptr) c->references.fetch_add(1, relaxed);
  return c;
}

void chan_drop(chan_core* c) noexcept {
  if (c == nullptr) return;
  race::release(&c->references);
  if (c->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  chan_drop_last(c);
  chan_end_retired();
}

void chan_drop_last(chan_core* c) noexcept {
  M* const m = rt::this_m();
  if (m != nullptr ? !rt::may_enter_briefly(m) : rt::in_value_move()) return chan_retire(c);
  if (rt::is_forked_child()) return;  // its lock may be held for ever
  if (is_unused(m, *c)) chan_end(c);
}

void chan_end(chan_core* c) noexcept {
  race::acquire(&c->references);
  c->order.ends();
  if (c->end != nullptr) return c->end(c);
  if (c->type.destroy != nullptr)
    for (std::size_t i = 0, n = c->count.load(relaxed); i < n; ++i)
      c->type.destroy(c->at(c->head + i));
  free_core(c);
}

void chan_release(chan_core* c) noexcept {
  const base::race::unseen here;
  c->end != nullptr ? chan_retire(c) : free_core(c);
}

void let_go_of_orphan(chan_core& c, waiter* w) noexcept {
  M* const m = rt::enter_either();
  w->object = nullptr;  // from here on the end of the runtime leaves it to us
  const bool left = is_last_due(c);
  const bool calm = rt::try_leave_either(m);
  if (left) chan_end(&c);  // before we might not go on
  if (!calm) rt::attend();
}

std::size_t chan_size(const chan_core* c) noexcept {
  end_if_left_behind();
  return c == nullptr || c->end != nullptr ? 0 : c->count.load(relaxed);
}

std::size_t chan_capacity(const chan_core* c) noexcept {
  return c == nullptr || c->end != nullptr ? 0 : c->capacity;
}

void unlink_sender(void* channel, waiter* w) noexcept {
  auto& c = *static_cast<chan_core*>(channel);
  leave_from_outside(c, c.senders, w);
}

void unlink_receiver(void* channel, waiter* w) noexcept {
  auto& c = *static_cast<chan_core*>(channel);
  leave_from_outside(c, c.receivers, w);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
