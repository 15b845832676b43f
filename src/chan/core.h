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
#include "base/biased_lock.h"
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

// Two ways to the same step. That for plain values, of so many bytes, makes no call, so that its
// caller needs no frame: the channel is open, and nobody is in the way who may have been served by
// another. kAny: all values, all cases.
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
  const std::size_t capacity;
  std::byte* const values;           // the ring
  atomic<std::size_t> count{0};      // written under lock; size() reads
  std::size_t head = 0;              // where the oldest value is
  chan_waiters receivers, senders;
  const chan_type type;              // from here on: seldom looked at
  atomic<std::uint32_t> references{1};
  // A timer's channel (time/clock_chan.h): called, in user context, by who lets go of it last. Its
  // one place is no user's business: to size() and capacity() it is an unbuffered channel.
  const end_fn end;

  template <std::size_t Plain>
  void move(void* to, void* from) const noexcept {
    if constexpr (Plain != kAny) {
      std::memcpy(to, from, Plain);
    } else if (plain == 8) {
      std::memcpy(to, from, 8);
    } else if (plain == 4) {
      std::memcpy(to, from, 4);
    } else if (type.move != nullptr) {
      type.move(to, from);
    } else {
      std::memcpy(to, from, type.size);
    }
  }

  template <std::size_t Plain>
  void push_value(void* from) noexcept {
    const std::size_t n = count.load(relaxed);
    move<Plain>(at<Plain>(head + n), from);
    count.store(n + 1, relaxed);
  }

  template <std::size_t Plain>
  void pop_value(void* to) noexcept {
    void* const from = oldest<Plain>();
    move<Plain>(to, from);
    if (Plain == kAny && type.leave != nullptr) type.leave(from);
    head = head + 1 == capacity ? 0 : head + 1;
    count.store(count.load(relaxed) - 1, relaxed);
  }

  // The oldest value out, another in behind the youngest. The ring is full and stays so: size()
  // sees nothing else.
  template <std::size_t Plain>
  void swap_value(void* to, void* from) noexcept {
    void* const place = oldest<Plain>();
    move<Plain>(to, place);
    if (Plain == kAny && type.leave != nullptr) type.leave(place);
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
  call,    // a plain value: nothing was done, it takes the other way
};

// The first who can be served, off its queue; nullptr: nobody.
template <std::size_t Plain>
inline waiter* pop_waiter(chan_waiters& q) noexcept {
  return Plain != kAny ? rt::wait_queue::pop_front(q) : rt::wait_queue::pop_claimed(q);
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
  if (Plain == kAny && c.closed) return step::closed;
  if (!likely(c.receivers.first == nullptr)) {
    if (takes_a_call<Plain>(c.receivers.first)) return step::call;
    if ((*w = pop_waiter<Plain>(c.receivers)) != nullptr) [[likely]] {
      c.move<Plain>((*w)->slot, value);
      return step::wake;
    }
  }
  if (c.count.load(relaxed) == c.capacity) [[likely]] return step::wait;
  c.push_value<Plain>(value);
  return step::done;
}

template <std::size_t Plain = kAny>
[[gnu::always_inline]] inline step recv_locked(chan_core& c, void* room, waiter** w) noexcept {
  if (takes_a_call<Plain>(c)) return step::call;
  if (c.count.load(relaxed) != 0) {
    if (c.senders.first != nullptr && takes_a_call<Plain>(c.senders.first)) return step::call;
    *w = pop_waiter<Plain>(c.senders);
    *w != nullptr ? c.swap_value<Plain>(room, (*w)->slot) : c.pop_value<Plain>(room);
    return *w != nullptr ? step::wake : step::done;
  }
  if (Plain == kAny && c.closed) return step::closed;
  if (likely(c.senders.first == nullptr)) return step::wait;
  if (takes_a_call<Plain>(c.senders.first)) return step::call;
  if ((*w = pop_waiter<Plain>(c.senders)) == nullptr) [[unlikely]] return step::wait;
  c.move<Plain>(room, (*w)->slot);
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

// Off the queue, unless it was served; either way the channel is locked once. `mine`: of who has a P.
inline void leave_queue(chan_core& c, chan_waiters& q, waiter* w, seat* mine = nullptr) noexcept {
  atomic<std::uint32_t>* by = c.lock.word();
  mine != nullptr ? static_cast<void>(by = c.lock.take(*mine)) : c.lock.acquire();
  if (w->object != nullptr) rt::wait_queue::remove(q, w);
  c.lock.free(by);
}

// waiter::unlink for both queues.
void unlink_sender(void* channel, waiter* w) noexcept;
void unlink_receiver(void* channel, waiter* w) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
