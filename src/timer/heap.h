// Timers in the order in which they are due: a 4-ary heap that knows where each of
// its timers stands.
//
// Who    whoever holds the lock that guards the heap (timer/shelf.h).
// Law    slot[i].when >= slot[(i - 1) / 4].when; slot[i].t is null (a dead slot) or its place is
//        i. `when` is copied into the slot, so that sifting touches no timer but the one it
//        moves, and a dead slot keeps its rank without one.
// Note   stopping is lazy and yet final: the slot dies, in O(1), and the timer, which may lie
//        on the stack of a goroutine that waits no longer, is free at once. Dead slots are
//        dropped when they come to the top, or all of them when a stop makes them more than a
//        quarter. (Firing may then leave them the greater part, of a heap that was larger.)
//        Memory: pages straight from the kernel, doubled as it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/atomic.h"
#include "base/system.h"

namespace vole::rt {

using namespace base;

struct M;
class shelf;

struct timer {
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  std::int64_t when = 0;            // ns of the monotonic clock
  std::size_t place = kNowhere;     // index in the heap
  atomic<shelf*> home{nullptr};     // the shelf it stands on, or stood on last; under its lock
  // Runs when due, off the heap, with no lock held; must not block. m: the M that fires, which
  // has a P. The record may end its life here, or be added again (add_timer_again).
  void (*fire)(timer* t, M* m) noexcept = nullptr;
  void* arg = nullptr;
  // The runtime has ended and the timer will never fire; null: nobody needs to know. `arg` is lost.
  void (*forgotten)(timer* t) noexcept = nullptr;
};

class timer_heap {
 public:
  constexpr timer_heap() noexcept = default;
  timer_heap(const timer_heap&) = delete;
  timer_heap& operator=(const timer_heap&) = delete;

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_ - dead_; }  // timers that are not stopped
  std::int64_t first_when() const noexcept { return slots_[0].when; }

  // False: the kernel refused memory.
  bool push(timer* t) noexcept {
    if (size_ == capacity_ && !grow()) return false;
    place(size_, {t->when, t});
    sift_up(size_++);
    return true;
  }

  void remove(timer* t) noexcept {
    slots_[t->place].t = nullptr;
    t->place = timer::kNowhere;
    ++dead_;
    if (dead_ > size_ / 4) sweep();
    drop_dead_top();
  }

  // The first one, if it is due; nullptr: none is.
  timer* pop_due(std::int64_t now) noexcept {
    if (size_ == 0 || slots_[0].when > now) return nullptr;
    timer* const t = slots_[0].t;
    t->place = timer::kNowhere;
    drop_top();
    drop_dead_top();
    return t;
  }

  // Forgets every timer, having shown it to `each`, and gives the memory back.
  template <class F>
  void clear(F each) noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      if (slots_[i].t == nullptr) continue;
      slots_[i].t->place = timer::kNowhere;
      each(slots_[i].t);
    }
    if (slots_ != nullptr) base::unmap_pages(slots_, capacity_ * sizeof(slot));
    slots_ = nullptr;
    size_ = dead_ = capacity_ = 0;
  }

  void clear() noexcept {
    clear([](timer*) {});
  }

  bool is_valid() const noexcept {
    std::size_t dead = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (const timer* const t = slots_[i].t; t == nullptr) {
        ++dead;
      } else if (t->place != i || t->when != slots_[i].when) {
        return false;
      }
      if (i > 0 && slots_[(i - 1) / kWays].when > slots_[i].when) return false;
    }
    return dead == dead_ && (size_ == 0 || slots_[0].t != nullptr);
  }

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kFirst = 4096 / 16;

  struct slot {
    std::int64_t when;
    timer* t;
  };

  void place(std::size_t i, slot s) noexcept {
    slots_[i] = s;
    if (s.t != nullptr) s.t->place = i;
  }

  void sift_up(std::size_t i) noexcept {
    const slot moving = slots_[i];
    while (i > 0 && slots_[(i - 1) / kWays].when > moving.when) {
      place(i, slots_[(i - 1) / kWays]);
      i = (i - 1) / kWays;
    }
    place(i, moving);
  }

  void sift_down(std::size_t i) noexcept {
    const slot moving = slots_[i];
    for (;;) {
      const std::size_t first = i * kWays + 1;
      if (first >= size_) break;
      const std::size_t end = first + kWays < size_ ? first + kWays : size_;
      std::size_t least = first;
      for (std::size_t c = first + 1; c < end; ++c)
        if (slots_[c].when < slots_[least].when) least = c;
      if (slots_[least].when >= moving.when) break;
      place(i, slots_[least]);
      i = least;
    }
    place(i, moving);
  }

  void drop_top() noexcept {
    if (--size_ == 0) return;
    slots_[0] = slots_[size_];
    sift_down(0);
  }

  void drop_dead_top() noexcept {
    while (size_ != 0 && slots_[0].t == nullptr) {
      --dead_;
      drop_top();
    }
  }

  // Drops every dead slot and puts the rest in order again: O(n), after n / 4 stops.
  void sweep() noexcept {
    std::size_t n = 0;
    for (std::size_t i = 0; i < size_; ++i)
      if (slots_[i].t != nullptr) place(n++, slots_[i]);
    size_ = n;
    dead_ = 0;
    if (n < 2) return;
    for (std::size_t i = (n - 2) / kWays + 1; i-- > 0;) sift_down(i);
  }

  bool grow() noexcept {
    const std::size_t bigger = capacity_ == 0 ? kFirst : capacity_ * 2;
    auto* const fresh = static_cast<slot*>(base::map_pages(bigger * sizeof(slot)));
    if (fresh == nullptr) return false;
    if (size_ != 0) std::memcpy(static_cast<void*>(fresh), slots_, size_ * sizeof(slot));
    if (slots_ != nullptr) base::unmap_pages(slots_, capacity_ * sizeof(slot));
    slots_ = fresh;
    capacity_ = bigger;
    return true;
  }

  slot* slots_ = nullptr;
  std::size_t size_ = 0;      // slots in use
  std::size_t dead_ = 0;      // of them
  std::size_t capacity_ = 0;
};

}  // namespace vole::rt
