// A channel: a lock, a ring of values, and two queues of those who wait.
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
// Note   waiters are served in order, straight into their slot, and woken after the
//        lock is free: whoever is woken may destroy the channel.
// Proof  tests/model/chan_model.cc, tests/stress/chan_linear_test.cc
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <vole/detail/chan_core.h>

#include "base/atomic.h"
#include "base/likely.h"
#include "base/lock.h"
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

inline void enqueue_contested(chan_waiters& q, waiter* w) noexcept {
  q.contested = true;
  rt::wait_queue::push_back(q, w);
}

// Two ways to the same step. `plain` makes no call on its way, so that its caller needs no frame:
// plain values only, the channel open, and nobody in the way who may have been served by another.
enum class how : std::uint8_t { any, plain };

class chan_core {
 public:
  using end_fn = void (*)(chan_core*) noexcept;

  chan_core(const chan_type& t, std::size_t cap, std::byte* ring, end_fn e = nullptr) noexcept
      : plain(plain_size(t)), quick(plain), type(t), capacity(cap), values(ring), end(e) {}

  base::lock<lock_rank::object> lock;
  bool closed = false;               // under lock, as all below
  const std::uint8_t plain;          // the size of a value that is copied without a call; or 0
  std::uint8_t quick;                // likewise while the channel is open; then 0
  const chan_type type;
  const std::size_t capacity;
  std::byte* const values;           // the ring
  atomic<std::size_t> count{0};      // written under lock; size() reads
  std::size_t head = 0;              // where the oldest value is
  chan_waiters receivers, senders;
  atomic<std::uint32_t> references{1};
  // A timer's channel (time/clock_chan.h): called, in user context, by who lets go of it last. Its
  // one place is no user's business: to size() and capacity() it is an unbuffered channel.
  const end_fn end;

  template <how H>
  void move(void* to, void* from) const noexcept {
    if (plain == 8) [[likely]] {
      std::memcpy(to, from, 8);
    } else if (plain == 4) [[likely]] {
      std::memcpy(to, from, 4);
    } else if (H == how::plain || plain == 1) {
      std::memcpy(to, from, 1);
    } else if (type.move != nullptr) {
      type.move(to, from);
    } else {
      std::memcpy(to, from, type.size);
    }
  }

  template <how H>
  void push_value(void* from) noexcept {
    const std::size_t n = count.load(relaxed);
    move<H>(at(head + n), from);
    count.store(n + 1, relaxed);
  }

  template <how H>
  void pop_value(void* to) noexcept {
    void* const from = oldest();
    move<H>(to, from);
    if (H != how::plain && type.leave != nullptr) type.leave(from);
    head = head + 1 == capacity ? 0 : head + 1;
    count.store(count.load(relaxed) - 1, relaxed);
  }

  // The oldest value out, another in behind the youngest. The ring is full and stays so: size()
  // sees nothing else.
  template <how H>
  void swap_value(void* to, void* from) noexcept {
    void* const place = oldest();
    move<H>(to, place);
    if (H != how::plain && type.leave != nullptr) type.leave(place);
    move<H>(place, from);
    head = head + 1 == capacity ? 0 : head + 1;
  }

  void* oldest() const noexcept { return values + head * type.size; }
  void* at(std::size_t i) const noexcept {
    return values + (i < capacity ? i : i - capacity) * type.size;
  }

 private:
  // Numbers, pointers and mere signals: what mostly travels.
  static constexpr std::uint8_t plain_size(const chan_type& t) noexcept {
    const bool is_bytes = t.move == nullptr && t.leave == nullptr;
    return is_bytes && (t.size == 8 || t.size == 4 || t.size == 1) ? static_cast<std::uint8_t>(t.size)
                                                                   : 0;
  }
};

// What a wake value says: the waiter it was for, and in its lowest bit whether a value passed.
inline std::uintptr_t told(const waiter* w, bool ok) noexcept {
  return reinterpret_cast<std::uintptr_t>(w) | (ok ? 1u : 0u);
}

enum class step : std::uint8_t {
  done,    // the value has passed
  wake,    // likewise, and *w must be woken after unlocking
  wait,    // nobody there, no room
  closed,
  call,    // how::plain: nothing was done, it takes the other way
};

// The first who can be served, off its queue; nullptr: nobody.
template <how H>
inline waiter* pop_waiter(chan_waiters& q) noexcept {
  return H == how::plain ? rt::wait_queue::pop_front(q) : rt::wait_queue::pop_claimed(q);
}
template <how H>
inline bool takes_a_call(const chan_core& c) noexcept {
  return H == how::plain && !likely(c.quick != 0);
}
template <how H>
inline bool takes_a_call(const waiter* first) noexcept {  // of a queue
  return H == how::plain && !likely(first->winner == nullptr);
}

// Inlined by force: a call would be one too many.
template <how H = how::any>
[[gnu::always_inline]] inline step send_locked(chan_core& c, void* value, waiter** w) noexcept {
  if (takes_a_call<H>(c)) return step::call;
  if (H != how::plain && c.closed) return step::closed;
  if (!likely(c.receivers.first == nullptr)) {
    if (takes_a_call<H>(c.receivers.first)) return step::call;
    if ((*w = pop_waiter<H>(c.receivers)) != nullptr) [[likely]] {
      c.move<H>((*w)->slot, value);
      return step::wake;
    }
  }
  if (c.count.load(relaxed) == c.capacity) [[likely]] return step::wait;
  c.push_value<H>(value);
  return step::done;
}

template <how H = how::any>
[[gnu::always_inline]] inline step recv_locked(chan_core& c, void* room, waiter** w) noexcept {
  if (takes_a_call<H>(c)) return step::call;
  if (c.count.load(relaxed) != 0) {
    if (c.senders.first != nullptr && takes_a_call<H>(c.senders.first)) return step::call;
    *w = pop_waiter<H>(c.senders);
    *w != nullptr ? c.swap_value<H>(room, (*w)->slot) : c.pop_value<H>(room);
    return *w != nullptr ? step::wake : step::done;
  }
  if (H != how::plain && c.closed) return step::closed;
  if (likely(c.senders.first == nullptr)) return step::wait;
  if (takes_a_call<H>(c.senders.first)) return step::call;
  if ((*w = pop_waiter<H>(c.senders)) == nullptr) [[unlikely]] return step::wait;
  c.move<H>(room, (*w)->slot);
  return step::wake;
}

// close() for one who is inside already; m: its M, null for a guest. False: closed already.
bool chan_close_inside(chan_core& c, M* m) noexcept;

// try_send for one who is inside already. Bytes only: a type with a move would run user code. Not
// step::wake: who was served has been woken.
step chan_try_send_inside(chan_core& c, M* m, void* value) noexcept;

// Throws away what is in the ring; bytes only. False: there was nothing. The lock is held.
inline bool drain_ring_locked(chan_core& c) noexcept {
  return c.count.exchange(0, relaxed) != 0;
}

// Off the queue, unless it was served; either way the channel is locked once.
inline void leave_queue(chan_core& c, chan_waiters& q, waiter* w) noexcept {
  holding hold(c.lock);
  if (w->object != nullptr) rt::wait_queue::remove(q, w);
}

// waiter::unlink for both queues.
void unlink_sender(void* channel, waiter* w) noexcept;
void unlink_receiver(void* channel, waiter* w) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
