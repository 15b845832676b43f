// A channel: a lock, a ring of values, and two queues of waiters.
//
// Who    any goroutine, any plain thread.
// Where  everything under `lock` runs inside the runtime: the one piece of user code
//        there is a nothrow move (and the destructor of what it leaves behind).
// Law    with the lock free:
//          receivers wait  =>  count == 0, and no sender waits;
//          senders wait    =>  count == capacity, and no receiver waits
//          (a select that waits on both ends of one channel excepted);
//          closed          =>  nobody waits.
//        A value is in exactly one place: its sender's, the ring, its receiver's.
// Law    a waiter keeps the channel alive, as a handle does. When the last handle is dropped, the core
//        ends if nobody will come back to it: nobody is queued and nobody is `due`. Otherwise it is an
//        orphan, and the last party that comes back ends it (is_left_locked): a select in its third
//        pass, a wait whose time was over, the end of the runtime, the tick of a timer's channel. A
//        waiter that was served does not come back.
// Law    a core ends in user context (chan_end), where the destructors of values may run; at the
//        end of the runtime it ends without them (chan_release). A caller that can do neither retires
//        it (chan_retire).
// Note   waiters are served in order, straight into their slot, and woken after the
//        lock is free: a waiter that was woken may destroy the channel.
// Proof  tests/model/chan_model.cc, tests/stress/chan_linear_test.cc; of orphans
//        tests/model/chan_model.cc, tests/stress/orphan_stress_test.cc
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <vole/detail/chan_core.h>

#include "base/atomic.h"
#include "base/likely.h"
#include "base/biased_lock.h"
#include "base/race.h"
#include "chan/order.h"
#include "gmp/waiter.h"
#include "sched/park.h"

namespace vole {
inline namespace v0 {
namespace detail {

using namespace base;
using rt::M;
using rt::waiter;

struct chan_waiters {
  waiter* first = nullptr;
  waiter* last = nullptr;
  bool contested = false;  // somebody in it may be served by others, or time out; or was here
};

// There are two ways to the same step. The one for plain values of so many bytes makes no call, so
// that its caller needs no frame: it needs an open channel, and no waiter in the way that somebody else
// may have served. kAny is the way for all values and all cases.
inline constexpr std::size_t kAny = 0;

class chan_core {
 public:
  using end_fn = void (*)(chan_core*) noexcept;

  chan_core(const chan_type& t, std::size_t cap, std::byte* ring, end_fn e = nullptr) noexcept
      : plain(static_cast<std::uint8_t>(plain_size(t))),
        capacity(cap),
        values(ring),
        type(t),
        end(e) {}

  [[no_unique_address]] base::biased_lock<lock_rank::object> lock;
  bool closed = false;               // under lock, as all below
  const std::uint8_t plain;          // plain_size
  bool orphan = false;               // nobody has a handle any more, but somebody waits
  const std::size_t capacity;
  std::byte* const values;           // the ring
  atomic<std::size_t> count{0};      // written under lock; size() reads
  std::size_t head = 0;              // where the oldest value is
  chan_waiters receivers, senders;
  const chan_type type;              // from here on: seldom looked at
  atomic<std::uint32_t> references{1};
  std::uint32_t due = 0;  // under lock: so many are off their queue, and will come back
  chan_core* next_retired = nullptr;
  [[no_unique_address]] chan_order order;
  // A timer's channel (time/clock_chan.cc) has it: it is called, in user context, when the last
  // handle goes. The one place of such a channel is hidden: size() and capacity() say 0.
  const end_fn end;

  bool is_sending(const chan_waiters& q) const noexcept { return &q == &senders; }
  bool is_awaited_locked() const noexcept {
    return receivers.first != nullptr || senders.first != nullptr || due != 0;
  }
  // Asked once after each step that takes a waiter off: exactly one caller is told true.
  bool is_left_locked() const noexcept { return orphan && !is_awaited_locked(); }

  template <std::size_t Plain>
  void move(void* to, void* from) const noexcept {
    if constexpr (Plain != kAny) {
      std::memcpy(to, from, Plain);
    } else if (plain == 8) {
      std::memcpy(to, from, 8);
    } else if (plain == 4) {
      std::memcpy(to, from, 4);
    } else if (type.move != nullptr) {
      move_by_call(to, from);
    } else {
      std::memcpy(to, from, type.size);
    }
  }

  template <std::size_t Plain>
  void move_out(void* to, void* from) const noexcept {
    move<Plain>(to, from);
    if (Plain == kAny && type.leave != nullptr) leave_by_call(from);
  }

  template <std::size_t Plain>
  void push_value(void* from) noexcept {
    const std::size_t n = count.load(relaxed);
    move<Plain>(at<Plain>(head + n), from);
    count.store(n + 1, relaxed);
  }

  template <std::size_t Plain>
  void pop_value(void* to) noexcept {
    move_out<Plain>(to, oldest<Plain>());
    head = head + 1 == capacity ? 0 : head + 1;
    count.store(count.load(relaxed) - 1, relaxed);
  }

  // The oldest value out, another in behind the youngest. The ring is full and stays so: size()
  // sees nothing else.
  template <std::size_t Plain>
  void swap_value(void* to, void* from) noexcept {
    void* const place = oldest<Plain>();
    move_out<Plain>(to, place);
    move<Plain>(place, from);
    head = head + 1 == capacity ? 0 : head + 1;
  }

  template <std::size_t Plain = kAny>
  void* oldest() const noexcept {
    return values + head * (Plain != kAny ? Plain : type.size);
  }
  template <std::size_t Plain = kAny>
  void* at(std::size_t i) const noexcept {
    i -= i < capacity ? 0 : capacity;
    return values + i * (Plain != kAny ? Plain : type.size);
  }

 private:
  // User code.
  [[gnu::visibility("hidden")]] void move_by_call(void* to, void* from) const noexcept;
  [[gnu::visibility("hidden")]] void leave_by_call(void* moved_from) const noexcept;
};

// Before the waiter parks, under the lock.
inline void enqueue_contested(chan_core& c, chan_waiters& q, waiter* w) noexcept {
  c.order.parks(c.is_sending(q), q.first == nullptr);
  q.contested = true;
  rt::wait_queue::push_back(q, w);
}

// A wake value names the waiter it was for, and says in its lowest bit whether a value passed.
inline std::uintptr_t told(const waiter* w, bool ok) noexcept {
  return reinterpret_cast<std::uintptr_t>(w) | (ok ? 1u : 0u);
}

enum class step : std::uint8_t {
  done,  // the value has passed
  wake,  // the value has passed, and *w must be woken after unlocking
  wait,  // nobody there, no room
  closed,
  call,  // a plain value: nothing was done, it takes the other way
};

// Takes the first waiter off its queue that can be served; nullptr: none. Waiters that were served
// elsewhere, or claimed by the clock, become `due`.
[[gnu::noinline]] inline waiter* pop_claimed_one(chan_core& c, chan_waiters& q) noexcept {
  for (; waiter* const w = rt::wait_queue::pop_front(q); ++c.due) {
    if (rt::claim(w)) return w;
    c.order.gives_up(c.is_sending(q));
  }
  return nullptr;
}
inline waiter* pop_claimed(chan_core& c, chan_waiters& q) noexcept {
  return q.first != nullptr ? pop_claimed_one(c, q) : nullptr;
}
template <std::size_t Plain>
inline waiter* pop_waiter(chan_core& c, chan_waiters& q) noexcept {
  return Plain != kAny ? rt::wait_queue::pop_front(q) : pop_claimed(c, q);
}
template <std::size_t Plain>
inline bool takes_a_call(const chan_core& c) noexcept {
  return Plain != kAny && !likely(!c.closed);
}
template <std::size_t Plain>
inline bool takes_a_call(const waiter* first) noexcept {  // of a queue
  return Plain != kAny && !likely(first->winner == nullptr);
}

// Inlined by force: a call would be one too many.
template <std::size_t Plain = kAny>
[[gnu::always_inline]] inline step send_locked(chan_core& c, void* value, waiter** w) noexcept {
  if (takes_a_call<Plain>(c)) return step::call;
  c.order.sends();
  if (Plain == kAny && c.closed) return step::closed;
  if (!likely(c.receivers.first == nullptr)) {
    if (takes_a_call<Plain>(c.receivers.first)) return step::call;
    if ((*w = pop_waiter<Plain>(c, c.receivers)) != nullptr) [[likely]] {
      c.order.sent_to(*w);
      c.move<Plain>((*w)->slot, value);
      return step::wake;
    }
  }
  if (c.count.load(relaxed) == c.capacity) [[likely]] return step::wait;
  c.order.sent();
  c.push_value<Plain>(value);
  return step::done;
}

template <std::size_t Plain = kAny>
[[gnu::always_inline]] inline step recv_locked(chan_core& c, void* room, waiter** w) noexcept {
  if (takes_a_call<Plain>(c)) return step::call;
  if (c.count.load(relaxed) != 0) {
    if (c.senders.first != nullptr && takes_a_call<Plain>(c.senders.first)) return step::call;
    *w = pop_waiter<Plain>(c, c.senders);
    c.order.received(*w);
    *w != nullptr ? c.swap_value<Plain>(room, (*w)->slot) : c.pop_value<Plain>(room);
    return *w != nullptr ? step::wake : step::done;
  }
  if (Plain == kAny && c.closed) {
    c.order.found_closed();
    return step::closed;
  }
  if (likely(c.senders.first == nullptr)) return step::wait;
  if (takes_a_call<Plain>(c.senders.first)) return step::call;
  if ((*w = pop_waiter<Plain>(c, c.senders)) == nullptr) [[unlikely]] return step::wait;
  c.order.received(*w);
  c.move<Plain>(room, (*w)->slot);
  return step::wake;
}

// close() for a caller that is inside already; m: its M, null for a guest. False: closed already.
bool chan_close_inside(chan_core& c, M* m) noexcept;

// try_send of a timer's channel, for a caller that is inside already. Bytes only: a type with a
// move would run user code. True: the core is left.
bool chan_tick_inside(chan_core& c, M* m, void* value) noexcept;

// Throws away what is in the ring; bytes only. False: there was nothing. The lock is held.
inline bool drain_ring_locked(chan_core& c) noexcept {
  return c.count.exchange(0, relaxed) != 0;
}

// Takes w off the queue, unless it is off already; either way the channel is locked once. `mine` is
// the caller's presence, if it has a P. True: the core is left, and ours to end.
inline bool leave_queue(chan_core& c, chan_waiters& q, waiter* w, presence* mine = nullptr) noexcept {
  atomic<std::uint32_t>* by = c.lock.word();
  mine != nullptr ? static_cast<void>(by = c.lock.take(*mine)) : c.lock.acquire();
  w->object != nullptr ? rt::wait_queue::remove(q, w) : static_cast<void>(--c.due);
  c.order.gives_up(c.is_sending(q));
  const bool left = c.is_left_locked();
  c.lock.free(by);
  return left;
}

// waiter::unlink for both queues. It is called by the clock that has claimed the waiter (then, if the
// channel is an orphan, w->object is set again, and let_go_of_orphan must follow), or by the end of
// the runtime.
void unlink_sender(void* channel, waiter* w) noexcept;
void unlink_receiver(void* channel, waiter* w) noexcept;

// Any thread, user context, after its wait is over. w: as unlink left it.
[[gnu::noinline]] void let_go_of_orphan(chan_core& c, waiter* w) noexcept;

void chan_end(chan_core* c) noexcept;      // user context
void chan_release(chan_core* c) noexcept;  // the runtime ends

// The last handle is gone. Ends the core, unless somebody will come back to it; retires it where it
// cannot be ended. Any context.
void chan_drop_last(chan_core* c) noexcept;
// Remembers c: chan_drop_last is called again when the next channel is made or ends, on any thread.
void chan_retire(chan_core* c) noexcept;
void chan_end_retired() noexcept;  // of all

}  // namespace detail
}  // namespace v0
}  // namespace vole
