// A futex lock of four bytes with a rank.
//
// Who    the runtime itself, on Ms and plain threads; never user code.
// Where  a holder may be preempted by the kernel but never parks a goroutine,
//        except through a commit that releases after the switch (sched/park.h).
// Law    word_: 0 free, 1 held, 2 held and somebody may sleep on it.
// Note   release() does not touch the lock after the store that frees it, except
//        for its address: whoever gets it next may destroy it.
// Proof  tests/model/lock_model.cc
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "base/lock_order.h"
#include "base/system.h"

namespace vole::base {

template <lock_rank Rank>
class lock {
 public:
  constexpr lock() noexcept = default;
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;

  void acquire() noexcept {
    lock_order::taking(Rank);
    std::uint32_t seen = 0;
    if (!word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, relaxed)) wait();
  }

  // For one who holds other locks of this rank already and has an order of its own for them.
  void acquire_next_of_kind() noexcept {
    lock_order::took(Rank);
    std::uint32_t seen = 0;
    if (!word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, relaxed)) wait();
  }

  bool try_acquire() noexcept {
    std::uint32_t seen = 0;
    if (!word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, relaxed)) return false;
    lock_order::took(Rank);
    return true;
  }

  void release() noexcept {
    lock_order::releasing(Rank);
    const std::uint32_t was = word_.exchange(0, std::memory_order_release);  // pairs: acquire, wait
    if (was == 2) futex_wake(&word_, 1);
  }

  bool held() const noexcept { return word_.load(relaxed) != 0; }

 private:
  void wait() noexcept {
    for (int i = 0; i < kSpins; ++i) {
      std::uint32_t seen = 0;
      if (word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, relaxed)) return;
      cpu_relax();
    }
    // From here on we take it as 2: we cannot know whether others sleep behind us.
    while (word_.exchange(2, std::memory_order_acquire) != 0) futex_wait(&word_, 2);
  }

  static constexpr int kSpins = 40;
  atomic<std::uint32_t> word_{0};
};

// Holds a lock for a block.
template <class Lock>
class holding {
 public:
  explicit holding(Lock& l) noexcept : lock_(l) { lock_.acquire(); }
  ~holding() { lock_.release(); }
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;

 private:
  Lock& lock_;
};

}  // namespace vole::base
