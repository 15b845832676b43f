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
};

class chan_core {
 public:
  using end_fn = void (*)(chan_core*) noexcept;

  chan_core(const chan_type& t, std::size_t cap, std::byte* ring, end_fn e = nullptr) noexcept
      : type(t), capacity(cap), values(ring), end(e) {}

  base::lock<lock_rank::object> lock;
  bool closed = false;               // under lock, as all below
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

  void move(void* to, void* from) const noexcept {
    if (type.move != nullptr) return type.move(to, from);
    // No call for what mostly travels: numbers and pointers.
    if (type.size == 8) {
      std::memcpy(to, from, 8);
    } else if (type.size == 4) {
      std::memcpy(to, from, 4);
    } else {
      std::memcpy(to, from, type.size);
    }
  }

  void push_value(void* from) noexcept {
    const std::size_t n = count.load(relaxed);
    move(at(head + n), from);
    count.store(n + 1, relaxed);
  }

  void pop_value(void* to) noexcept {
    void* const from = at(head);
    move(to, from);
    if (type.leave != nullptr) type.leave(from);
    head = head + 1 == capacity ? 0 : head + 1;
    count.store(count.load(relaxed) - 1, relaxed);
  }

  // The oldest value out, another in behind the youngest. The ring is full and stays so: size()
  // sees nothing else.
  void swap_value(void* to, void* from) noexcept {
    void* const place = at(head);
    move(to, place);
    if (type.leave != nullptr) type.leave(place);
    move(place, from);
    head = head + 1 == capacity ? 0 : head + 1;
  }

  void* at(std::size_t i) const noexcept {
    return values + (i < capacity ? i : i - capacity) * type.size;
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
};

inline step send_locked(chan_core& c, void* value, waiter** w) noexcept {
  if (c.closed) return step::closed;
  if ((*w = rt::wait_queue::pop_claimed(c.receivers)) != nullptr) {
    c.move((*w)->slot, value);
    return step::wake;
  }
  if (c.count.load(relaxed) == c.capacity) return step::wait;
  c.push_value(value);
  return step::done;
}

inline step recv_locked(chan_core& c, void* room, waiter** w) noexcept {
  if (c.count.load(relaxed) != 0) {
    *w = rt::wait_queue::pop_claimed(c.senders);
    *w != nullptr ? c.swap_value(room, (*w)->slot) : c.pop_value(room);
    return *w != nullptr ? step::wake : step::done;
  }
  if (c.closed) return step::closed;
  if ((*w = rt::wait_queue::pop_claimed(c.senders)) == nullptr) return step::wait;
  c.move(room, (*w)->slot);
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

// waiter::unlink for both queues.
void unlink_sender(void* channel, waiter* w) noexcept;
void unlink_receiver(void* channel, waiter* w) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
