// Timers, and goroutines that sleep, in the order in which they are due: a 4-ary heap that knows
// where each of its timers stands.
//
// Who    the holder of the lock that guards the heap (timer/timer_set.h).
// Law    slot[i].when >= slot[(i - 1) / 4].when. A timer has a ticket for as long as it stands
//        here: timers[ticket] is the timer, where[ticket] its slot, and the slot names the
//        ticket, or none (a dead slot). A sleeper needs neither record nor ticket: nobody stops
//        it, and its slot names the goroutine.
// Law    sifting touches no timer and no goroutine: `when` is copied into the slot, and where a
//        timer stands is written beside the heap. Timers lie on the stacks of waiting goroutines,
//        each on a page that nobody has touched for long.
// Note   stopping is lazy and yet final: the slot dies, in O(1), and the timer, which may lie
//        on the stack of a goroutine that waits no longer, is free at once. Dead slots are
//        dropped when they come to the top, or all of them when a stop makes them more than a
//        quarter. (Firing may then leave them the greater part, of a heap that was larger.)
//        Memory: pages straight from the kernel, doubled as it grows. The four children of a
//        slot share a cache line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/atomic.h"
#include "base/system.h"

namespace vole::rt {

using namespace base;

struct G;
struct M;
class timer_set;

struct timer {
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  std::int64_t when = 0;            // ns of the monotonic clock
  std::size_t place = kNowhere;     // its ticket in the heap
  atomic<timer_set*> home{nullptr};     // the timer set it is in, or was in last; under its lock
  // Runs when due, off the heap, with no lock held; must not block. m: the M that fires, which
  // has a P. The record may end its life here, or be added again (add_timer_again).
  void (*fire)(timer* t, M* m) noexcept = nullptr;
  void* arg = nullptr;
  // The runtime has ended and the timer will never fire; null: nobody needs to know. `arg` is lost.
  void (*forgotten)(timer* t) noexcept = nullptr;
};

// Sleepers that are due and off the heap: the thread that took them makes them runnable.
struct risen {
  static constexpr std::size_t kMost = 32;

  G* g[kMost];
  std::size_t n = 0;
};

class timer_heap {
 public:
  constexpr timer_heap() noexcept = default;
  timer_heap(const timer_heap&) = delete;
  timer_heap& operator=(const timer_heap&) = delete;

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_ - dead_; }  // those that are not stopped
  std::int64_t first_when() const noexcept { return slots_[0].when; }

  // False: the kernel refused memory.
  bool push(timer* t) noexcept {
    if (size_ == capacity_ && !grow()) return false;
    const std::uint32_t ticket = free_;
    free_ = where_[ticket];
    timers_[ticket] = t;
    t->place = ticket;
    sift_up(size_++, {t->when, ticket_word(ticket)});
    return true;
  }
  bool push_sleeper(G* g, std::int64_t when) noexcept {
    if (size_ == capacity_ && !grow()) return false;
    sift_up(size_++, {when, sleeper_word(g)});
    return true;
  }

  void remove(timer* t) noexcept {
    slots_[where_[t->place]].what = kDead;
    forget(t, static_cast<std::uint32_t>(t->place));
    ++dead_;
    if (dead_ > size_ / 4) sweep();
    drop_dead_top();
  }

  // Takes what is due, in turn: sleepers until there is no room for more, or up to the first timer,
  // which is returned. nullptr: no timer came up.
  timer* pop_due(std::int64_t now, risen& up) noexcept {
    up.n = 0;
    while (size_ != 0 && slots_[0].when <= now && up.n < risen::kMost) {
      const slot top = slots_[0];
      drop_top();
      drop_dead_top();
      prefetch(now);
      if (!is_sleeper(top)) {
        timer* const t = timers_[ticket_of(top)];
        forget(t, ticket_of(top));
        return t;
      }
      up.g[up.n++] = sleeper_of(top);
    }
    return nullptr;
  }

  // Forgets everything, having shown each timer to `each` and each sleeper to `each_sleeper`, with
  // its time, and gives the memory back.
  template <class F, class S>
  void clear(F each, S each_sleeper) noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      if (slots_[i].what == kDead) continue;
      if (is_sleeper(slots_[i])) {
        each_sleeper(sleeper_of(slots_[i]), slots_[i].when);
        continue;
      }
      timer* const t = timers_[ticket_of(slots_[i])];
      t->place = timer::kNowhere;
      each(t);
    }
    if (slots_ != nullptr) base::unmap_pages(memory(slots_), bytes(capacity_));
    slots_ = nullptr;
    timers_ = nullptr;
    where_ = nullptr;
    size_ = dead_ = capacity_ = 0;
    free_ = kNone;
  }

  void clear() noexcept {
    clear([](timer*) {}, [](G*, std::int64_t) {});
  }

  bool is_valid() const noexcept {
    std::size_t dead = 0, tickets = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (i > 0 && slots_[(i - 1) / kWays].when > slots_[i].when) return false;
      dead += slots_[i].what == kDead ? 1 : 0;
      if (!has_ticket(slots_[i])) continue;
      const std::uint32_t ticket = ticket_of(slots_[i]);
      ++tickets;
      if (where_[ticket] != i || timers_[ticket]->place != ticket ||
          timers_[ticket]->when != slots_[i].when)
        return false;
    }
    std::size_t spare = 0;
    for (std::uint32_t ticket = free_; ticket != kNone; ticket = where_[ticket]) ++spare;
    return dead == dead_ && spare == capacity_ - tickets &&
           (size_ == 0 || slots_[0].what != kDead);
  }

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kFirst = 4096 / 16;

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct slot {
    std::int64_t when;
    std::uintptr_t what;  // a G and 1, twice a ticket, or kDead
  };
  static constexpr std::uintptr_t kDead = ~std::uintptr_t{1};
  static std::uintptr_t ticket_word(std::uint32_t ticket) noexcept {
    return std::uintptr_t{ticket} * 2;
  }
  static std::uintptr_t sleeper_word(G* g) noexcept {
    return reinterpret_cast<std::uintptr_t>(g) | 1;
  }
  static bool is_sleeper(const slot& s) noexcept { return (s.what & 1) != 0; }
  static bool has_ticket(const slot& s) noexcept { return !is_sleeper(s) && s.what != kDead; }
  static G* sleeper_of(const slot& s) noexcept {
    return reinterpret_cast<G*>(s.what & ~std::uintptr_t{1});
  }
  static std::uint32_t ticket_of(const slot& s) noexcept {
    return static_cast<std::uint32_t>(s.what / 2);
  }
  // Before slot 0, so that slot 1 and its siblings begin a cache line.
  static constexpr std::size_t kMargin = 64 - sizeof(slot);

  static std::size_t bytes(std::size_t capacity) noexcept {
    return kMargin + capacity * (sizeof(slot) + sizeof(timer*) + sizeof(std::uint32_t));
  }
  static void* memory(slot* first) noexcept { return reinterpret_cast<std::byte*>(first) - kMargin; }

  void place(std::size_t i, slot s) noexcept {
    slots_[i] = s;
    if (has_ticket(s)) where_[ticket_of(s)] = static_cast<std::uint32_t>(i);
  }

  // Prefetches those that are likely to be popped next.
  [[gnu::always_inline]] void prefetch(std::int64_t now) const noexcept {
    for (std::size_t i = 0; i <= kWays && i < size_; ++i) {
      if (slots_[i].when > now || slots_[i].what == kDead) continue;
      __builtin_prefetch(is_sleeper(slots_[i]) ? static_cast<void*>(sleeper_of(slots_[i]))
                                               : timers_[ticket_of(slots_[i])],
                         1);
    }
  }

  // It stands here no longer: its ticket is free.
  void forget(timer* t, std::uint32_t ticket) noexcept {
    where_[ticket] = free_;
    free_ = ticket;
    t->place = timer::kNowhere;
  }

  void sift_up(std::size_t i, slot moving) noexcept {
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
    while (size_ != 0 && slots_[0].what == kDead) {
      --dead_;
      drop_top();
    }
  }

  // Drops every dead slot and puts the rest in order again: O(n), after n / 4 stops.
  void sweep() noexcept {
    std::size_t n = 0;
    for (std::size_t i = 0; i < size_; ++i)
      if (slots_[i].what != kDead) place(n++, slots_[i]);
    size_ = n;
    dead_ = 0;
    if (n < 2) return;
    for (std::size_t i = (n - 2) / kWays + 1; i-- > 0;) sift_down(i);
  }

  bool grow() noexcept {
    const std::size_t bigger = capacity_ == 0 ? kFirst : capacity_ * 2;
    if (bigger >= kNone) return false;
    void* const room = base::map_pages(bytes(bigger));
    if (room == nullptr) return false;
    auto* const slots = reinterpret_cast<slot*>(static_cast<std::byte*>(room) + kMargin);
    auto* const timers = reinterpret_cast<timer**>(slots + bigger);
    auto* const where = reinterpret_cast<std::uint32_t*>(timers + bigger);
    if (capacity_ != 0) {
      std::memcpy(static_cast<void*>(slots), slots_, size_ * sizeof(slot));
      std::memcpy(static_cast<void*>(timers), timers_, capacity_ * sizeof(timer*));
      std::memcpy(where, where_, capacity_ * sizeof(std::uint32_t));
      base::unmap_pages(memory(slots_), bytes(capacity_));
    }
    slots_ = slots;
    timers_ = timers;
    where_ = where;
    for (std::size_t i = bigger; i-- > capacity_;) {
      where_[i] = free_;
      free_ = static_cast<std::uint32_t>(i);
    }
    capacity_ = bigger;
    return true;
  }

  slot* slots_ = nullptr;
  timer** timers_ = nullptr;        // by ticket
  std::uint32_t* where_ = nullptr;  // by ticket: its slot; free: the next free one
  std::uint32_t free_ = kNone;      // tickets
  std::size_t size_ = 0;            // slots in use
  std::size_t dead_ = 0;            // of them
  std::size_t capacity_ = 0;
};

}  // namespace vole::rt
