// Timers in the order in which they are due: a 4-ary heap that knows where each of
// its timers stands.
//
// Who    whoever holds the lock that guards the heap (sched/timers.h).
// Law    slot[i].when >= slot[(i - 1) / 4].when, and slot[i].timer->place == i. `when` is
//        copied into the slot, so that sifting touches no timer but the one it moves.
// Note   a stopped timer is taken out at once, in O(log n). Marking it dead and
//        sweeping later would be cheaper, but many timers live on the stack of the
//        goroutine that waits, and are gone when the wait is over.
//        Memory: pages straight from the kernel, doubled as it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/system.h"

namespace vole::rt {

struct timer {
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  std::int64_t when = 0;            // ns of the monotonic clock
  std::size_t place = kNowhere;     // index in the heap
  // Runs when due, off the heap, with no lock held; must not block. `t` is the caller's last
  // touch unless fire itself goes on with it.
  void (*fire)(timer* t) noexcept = nullptr;
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
  std::size_t size() const noexcept { return size_; }
  std::int64_t first_when() const noexcept { return slots_[0].when; }

  // False: the kernel refused memory.
  bool push(timer* t) noexcept {
    if (size_ == capacity_ && !grow()) return false;
    place(size_, {t->when, t});
    sift_up(size_++);
    return true;
  }

  void remove(timer* t) noexcept {
    const std::size_t hole = t->place;
    t->place = timer::kNowhere;
    if (hole == --size_) return;
    place(hole, slots_[size_]);
    sift_down(hole);
    sift_up(hole);
  }

  // The first one, if it is due; nullptr: none is.
  timer* pop_due(std::int64_t now) noexcept {
    if (size_ == 0 || slots_[0].when > now) return nullptr;
    timer* const t = slots_[0].t;
    remove(t);
    return t;
  }

  // Forgets every timer, having shown it to `each`, and gives the memory back.
  template <class F>
  void clear(F each) noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      slots_[i].t->place = timer::kNowhere;
      each(slots_[i].t);
    }
    if (slots_ != nullptr) base::unmap_pages(slots_, capacity_ * sizeof(slot));
    slots_ = nullptr;
    size_ = capacity_ = 0;
  }

  void clear() noexcept {
    clear([](timer*) {});
  }

  bool is_valid() const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      if (slots_[i].t->place != i || slots_[i].t->when != slots_[i].when) return false;
      if (i > 0 && slots_[(i - 1) / kWays].when > slots_[i].when) return false;
    }
    return true;
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
    s.t->place = i;
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
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace vole::rt
