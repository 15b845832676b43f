// One party waiting on one object: a parked goroutine or a sleeping plain thread.
//
// Who    linked and unlinked under the object's own lock.
// Law    a waiter stands in at most one queue. While it does, `object` and `unlink`
//        say which one, so that it can be taken out from outside: by a timeout, a
//        cancellation, or the end of the runtime.
// Note   a goroutine's waiter lives inside its G, not on its stack: waking a
//        million goroutines must not touch a million cold stacks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.h"
#include "base/note.h"
#include "base/race.h"

namespace vole::rt {

using namespace base;

struct G;

// The note on which a plain thread sleeps, and its wake value.
struct guest_note {
  std::uintptr_t sleep() noexcept {
    woken.sleep();
    return told();
  }
  // What it was woken with. The waker's code comes before ours.
  std::uintptr_t told() const noexcept {
    race::acquire(this);
    return value;
  }
  note woken;
  std::uintptr_t value = 0;
};

// Something that belongs to a goroutine: the values that vole::local keeps for it (sync/local.cc) and,
// while the library is at work in its frames, what those own (sched/life/belonging.h).
struct goroutine_locals {
  void (*end)(goroutine_locals* self, bool destroy) noexcept;  // frees, having destroyed or not
  goroutine_locals* under = nullptr;                           // the next one
};

struct waiter {
  waiter* next = nullptr;
  waiter* prev = nullptr;
  G* g = nullptr;                 // null: a plain thread, which sleeps on `thread`
  union {
    guest_note* thread = nullptr;
    goroutine_locals* locals;     // in a G's own waiter, which sleeps on nothing: the G's; its own
  };
  void* object = nullptr;         // null: not waiting on anything
  void (*unlink)(void* object, waiter* w) noexcept = nullptr;  // takes the object's lock
  void* slot = nullptr;           // a channel's: where the value is, or goes
  atomic<std::uint32_t>* winner = nullptr;  // changing it from 0 wins the waiter; null: no contest
};

// A waiter that can be woken from several sides has one winner. True: it is ours to serve.
inline bool claim(waiter* w) noexcept {
  std::uint32_t none = 0;
  return w->winner == nullptr || w->winner->compare_exchange_strong(none, 1, seq_cst);
}

inline constexpr std::size_t kWaiterInG = 64;

// Prefetches what waking w will touch, since most waiters are part of their G. w may be null.
[[gnu::always_inline]] inline void prefetch(const waiter* w) noexcept {
  if (w != nullptr) __builtin_prefetch(reinterpret_cast<const std::byte*>(w) - kWaiterInG, 1);
}

// FIFO, with removal from the middle. The list itself (first, last) is part of the public object:
// detail::wait_list of include/vole.
namespace wait_queue {

template <class List>
void push_back(List& l, waiter* w) noexcept {
  waiter* const last = l.last;
  w->next = nullptr;
  w->prev = last;
  if (last == nullptr) [[likely]] {
    l.first = w;
  } else {
    last->next = w;
  }
  l.last = w;
}

template <class List>
void remove(List& l, waiter* w) noexcept {
  (w->prev != nullptr ? w->prev->next : l.first) = w->next;
  (w->next != nullptr ? w->next->prev : l.last) = w->prev;
  w->next = w->prev = nullptr;
  w->object = nullptr;
}

// nullptr: empty.
template <class List>
waiter* pop_front(List& l) noexcept {
  waiter* const w = l.first;
  if (w == nullptr) return nullptr;
  waiter* const next = w->next;
  l.first = next;
  if (next == nullptr) [[likely]] {
    l.last = nullptr;
  } else {
    next->prev = nullptr;
    w->next = nullptr;
  }
  w->object = nullptr;
  return w;
}

template <class List>
[[gnu::noinline]] waiter* pop_claimed_one(List& l) noexcept {
  while (waiter* const w = pop_front(l))
    if (claim(w)) return w;
  return nullptr;
}

// Takes the first waiter off the queue that can still be served; nullptr: there is none, as mostly.
template <class List>
inline waiter* pop_claimed(List& l) noexcept {
  return l.first != nullptr ? pop_claimed_one(l) : nullptr;
}

}  // namespace wait_queue

}  // namespace vole::rt
