// A P's own run queue [4]: a ring with one owner behind and many thieves in front.
//
// Who    push, pop, spill: the M holding this P (_owner). steal_half_owner: any M holding
//        another P, into its own queue. size, *_now: anybody.
// Where  in the runtime; takes no lock, may be called under any.
// Law    0 <= back - front <= kCapacity. Both are modulo 2^32; front only grows, back
//        goes down for pop_newest_owner only, which counts a turn beside front: no claim that
//        was prepared before it can succeed after it.
// Note   a thief may read a slot while the owner reuses it. Its claim then fails
//        and the copy is thrown away; that is why slots are atomic. While pop_newest_owner
//        is at work the newest is hidden: back may even be one behind front, until the
//        owner has seen that a thief was faster.
// Proof  tests/model/local_queue_model.cc
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.h"
#include "base/fatal.h"
#include "base/likely.h"
#include "queue/runnable.h"

namespace vole::rt {

using namespace base;

template <std::uint32_t Capacity>
class basic_local_queue {
 public:
  static constexpr std::uint32_t kCapacity = Capacity;
  static constexpr std::uint32_t kHalf = Capacity / 2;

  // Puts g at the back. False: full; the caller spills to the global queue.
  bool push_owner(runnable* g) noexcept { return push_at(back_.load(relaxed), g); }

  // push_owner in two halves, where there is room, as after a pop: g is in when `back` is in `word`.
  struct half_push {
    atomic<std::uint32_t>* word;
    std::uint32_t back;
  };
  half_push begin_push_owner(runnable* g) noexcept {
    const std::uint32_t back = back_.load(relaxed);
    slots_[back % kCapacity].store(g, relaxed);
    return {&back_, back + 1};
  }

  // Takes the oldest; nullptr: empty.
  runnable* pop_owner() noexcept {
    std::uint64_t front = front_.load(std::memory_order_acquire);  // pairs: claim
    while (likely(index(front) != back_.load(relaxed))) {
      runnable* g = slots_[front % kCapacity].load(relaxed);
      if (likely(claim(front, 1))) return g;
    }
    return nullptr;
  }

  // The same, and marks g: pop_newest_owner may take it back while nothing unmarked lies behind it.
  bool push_newest_owner(runnable* g) noexcept {
    const std::uint32_t back = back_.load(relaxed);
    if (!push_at(back, g)) return false;
    marked_ = likely(marked_end_ == back) ? marked_ + 1 : 1;
    marked_end_ = back + 1;
    return true;
  }

  // Is the newest marked? (A thief may have taken it meanwhile.)
  bool newest_is_marked_owner() const noexcept {
    return !likely(marked_end_ != back_.load(relaxed)) && marked_ != 0;
  }

  // Takes the newest, if it is marked and at least `others` are left; else nullptr.
  runnable* pop_newest_owner(std::uint32_t others) noexcept {
    if (!newest_is_marked_owner()) return nullptr;
    const std::uint32_t back = back_.load(relaxed);
    std::uint64_t front = front_.load(std::memory_order_acquire);  // pairs: claim
    while (back - index(front) > others) {
      runnable* const g = slots_[(back - 1) % kCapacity].load(relaxed);
      back_.store(back - 1, std::memory_order_release);  // pairs: look; and before the claim
      if (claim(front, kTurn)) {
        --marked_;
        marked_end_ = back - 1;
        return g;
      }
      back_.store(back, std::memory_order_release);  // pairs: look
    }
    return nullptr;
  }

  // Moves the oldest half out of a full ring [6], to `half`. False: a thief has made room meanwhile,
  // push again.
  bool spill_half_owner(runnable* (&half)[kHalf]) noexcept {
    const std::uint32_t back = back_.load(relaxed);
    std::uint64_t front = front_.load(std::memory_order_acquire);  // pairs: claim
    if (back - index(front) < kCapacity) return false;
    for (std::uint32_t i = 0; i < kHalf; ++i)
      half[i] = slots_[(front + i) % kCapacity].load(relaxed);
    return claim(front, kHalf);
  }

  // Takes the older half of the victim's ring [15]: n - n/2 of n. One is returned to be run
  // now, the others become visible in our ring. We are this queue's owner, and it is empty.
  runnable* steal_half_owner(basic_local_queue& victim) noexcept {
    const std::uint32_t back = back_.load(relaxed);
    const std::uint32_t taken = victim.grab(*this, back);
    if (taken == 0) return nullptr;
#ifdef VOLE_CHECKED
    if (back - index(front_.load(relaxed)) + taken > kCapacity)
      broken("queue: a thief's ring overflows");
#endif
    runnable* g = slots_[(back + taken - 1) % kCapacity].load(relaxed);
    if (taken > 1) back_.store(back + taken - 1, std::memory_order_release);  // pairs: look
    return g;
  }

  std::uint32_t size() const noexcept {  // exact for the owner, a guess for others
    const std::uint32_t front = index(front_.load(relaxed));
    const std::uint32_t n = count(front, back_.load(relaxed));
    return n <= kCapacity ? n : kCapacity;
  }

  // How many lie between the two; 0 if back is one behind front (see the card's Note).
  static std::uint32_t count(std::uint32_t front, std::uint32_t back) noexcept {
    const std::uint32_t n = back - front;
    return static_cast<std::int32_t>(n) > 0 ? n : 0;
  }

  // Part of the last look (sched/work/parking.h): seq_cst, so that it cannot be early.
  std::uint32_t front_now() const noexcept { return index(front_.load(seq_cst)); }
  std::uint32_t back_now() const noexcept { return back_.load(seq_cst); }

  // Where a look from outside finds the two, 32 bits each (root/root.h).
  struct offsets {
    std::uint32_t front, back;
  };
  static constexpr offsets places() noexcept {
    return {offsetof(basic_local_queue, front_), offsetof(basic_local_queue, back_)};
  }

 private:
  // back: what it is; only the owner writes it.
  bool push_at(std::uint32_t back, runnable* g) noexcept {
    const std::uint32_t front = index(front_.load(std::memory_order_acquire));  // pairs: claim
    if (!likely(back - front < kCapacity)) return false;
    slots_[back % kCapacity].store(g, relaxed);
    back_.store(back + 1, std::memory_order_release);  // pairs: look
    return true;
  }

  // Copies the older half past `to`'s back without publishing it. Returns how many.
  std::uint32_t grab(basic_local_queue& to, std::uint32_t to_back) noexcept {
    for (;;) {
      std::uint64_t front = front_.load(std::memory_order_acquire);      // pairs: claim
      const std::uint32_t back = back_.load(std::memory_order_acquire);  // look; pairs: push, steal
      const std::uint32_t available = count(index(front), back);
      const std::uint32_t n = available - available / 2;
      if (n == 0) return 0;
      if (n > kHalf) continue;  // front and back were not read at one instant
      for (std::uint32_t i = 0; i < n; ++i) {
        runnable* g = slots_[(front + i) % kCapacity].load(relaxed);
        to.slots_[(to_back + i) % kCapacity].store(g, relaxed);
      }
      if (claim(front, n)) return n;
    }
  }

  // The only way anything leaves the ring: n from the front, or kTurn, the newest. On failure
  // `front` is what it is now.
  bool claim(std::uint64_t& front, std::uint64_t n) noexcept {
    return front_.compare_exchange_strong(front, front + n, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
  }

  static std::uint32_t index(std::uint64_t front) noexcept {
    return static_cast<std::uint32_t>(front);
  }

  static constexpr std::uint64_t kTurn = std::uint64_t{1} << 32;

  alignas(64) atomic<std::uint64_t> front_{0};  // the index; above it turns, and its carries
  atomic<std::uint32_t> back_{0};
  // Owner. So many in front of marked_end_ are marked, if they are still here.
  std::uint32_t marked_end_ = 0;
  std::uint32_t marked_ = 0;
  atomic<runnable*> slots_[Capacity] = {};
};

using local_queue = basic_local_queue<256>;

}  // namespace vole::rt
