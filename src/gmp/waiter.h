// One party waiting on one object: a parked goroutine or a sleeping plain thread.
//
// Who    linked and unlinked under the object's own lock.
// Law    a waiter stands in at most one queue. While it does, `object` and `unlink`
//        say which one, so that it can be taken out from outside: by a timeout, a
//        cancellation, or the end of the runtime.
// Note   a goroutine's waiter lives inside its G, not on its stack: waking a
//        million goroutines must not touch a million cold stacks.
#pragma once

#include "base/note.h"

namespace vole::rt {

using namespace base;

struct G;

struct waiter {
  waiter* next = nullptr;
  waiter* prev = nullptr;
  G* g = nullptr;          // null: a plain thread, which sleeps on `thread`
  note* thread = nullptr;
  void* object = nullptr;  // null: not waiting on anything
  void (*unlink)(void* object, waiter* w) noexcept = nullptr;  // takes the object's lock
};

// FIFO, with removal from the middle. The list itself (first, last) is part of the public object:
// detail::wait_list of include/vole.
namespace wait_queue {

template <class List>
void push_back(List& l, waiter* w) noexcept {
  w->next = nullptr;
  w->prev = l.last;
  (l.last != nullptr ? l.last->next : l.first) = w;
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
  if (w != nullptr) remove(l, w);
  return w;
}

}  // namespace wait_queue

}  // namespace vole::rt
