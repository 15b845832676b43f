// A futex lock of four bytes with a rank.
//
// Who    the runtime itself, on Ms and plain threads; never user code.
// Where  a holder may be preempted by the kernel but never parks a goroutine,
//        except through a door that releases after the switch (sched/park.h).
// Law    word_: 0 free, 1 held. A sleeper is counted twice in the sleeper table.
// Note   release() does not touch the lock after the store that frees it, except
//        for its address: the next holder may destroy it.
// Note   release() is a plain store and a plain load. The fence between them is made by the sleeper,
//        on every core (a membarrier): a thread that goes to sleep can afford it, a release cannot.
// Proof  tests/model/lock_model.cc
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "base/lock_order.h"
#include "base/sleeper_table.h"
#include "base/thread_safety.h"
#include "base/system.h"

namespace vole::base {

inline void wake_sleeper_of(atomic<std::uint32_t>* word) noexcept {
  if (sleeper_table::sleepers(word).load(relaxed) != 0) futex_wake(word, 1);
}

template <lock_rank Rank>
class VOLE_CAPABILITY("lock") lock {
 public:
  constexpr lock() noexcept = default;
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;

  void acquire() noexcept VOLE_ACQUIRE() { acquire_word(word_); }

  // For a thread that holds other locks of this rank and takes them in an order of its own.
  void acquire_next_of_kind() noexcept VOLE_ACQUIRE() {
    lock_order::took(Rank);
    std::uint32_t seen = 0;
    if (!word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, relaxed)) wait(word_);
  }

  bool try_acquire() noexcept VOLE_TRY_ACQUIRE(true) {
    std::uint32_t seen = 0;
    if (!word_.compare_exchange_strong(seen, 1, std::memory_order_acquire, relaxed)) return false;
    lock_order::took(Rank);
    return true;
  }

  void release() noexcept VOLE_RELEASE() {
    if (!release_quietly()) [[unlikely]] wake_sleeper();
  }

  // release() in two halves, for callers that want no call in between. The lock is free when this
  // returns; false: wake_sleeper() is still to be called.
  [[nodiscard]] bool release_quietly() noexcept VOLE_RELEASE() { return release_word_quietly(word_); }
  void wake_sleeper() noexcept { wake_sleeper_of(&word_); }  // takes its address, no more

  // For a biased lock or a door (sched/park.h), which frees the lock by storing 0 there, in the order
  // of release_quietly(). It must call lock_order::releasing() too and, if anybody sleeps on any
  // lock, wake_sleeper_of().
  [[nodiscard]] atomic<std::uint32_t>* word() noexcept { return &word_; }

  bool held() const noexcept { return word_.load(relaxed) != 0; }

  // A lock that is no more than its word, in a public object.
  static void acquire_word(atomic<std::uint32_t>& word) noexcept {
    lock_order::taking(Rank);
    std::uint32_t seen = 0;
    if (!word.compare_exchange_strong(seen, 1, std::memory_order_acquire, relaxed)) wait(word);
  }
  static void release_word(atomic<std::uint32_t>& word) noexcept {
    if (!release_word_quietly(word)) [[unlikely]] wake_sleeper_of(&word);
  }

 private:
  static bool release_word_quietly(atomic<std::uint32_t>& word) noexcept {
    lock_order::releasing(Rank);
    word.store(0, std::memory_order_release);  // pairs: acquire, wait
    compiler_barrier();                        // pairs: the membarrier of wait
    return sleeper_table::total().load(relaxed) == 0;
  }
  static void wait(atomic<std::uint32_t>& word) noexcept {
    for (int i = 0; i < kLockSpins; ++i) {
      std::uint32_t seen = word.load(relaxed);  // a look first: the line stays the holder's
      if (seen == 0 && word.compare_exchange_strong(seen, 1, std::memory_order_acquire, relaxed))
        return;
      cpu_relax();
    }
    sleeper_table::total().fetch_add(1, relaxed);
    sleeper_table::sleepers(&word).fetch_add(1, relaxed);
    const bool seen_by_all = membarrier();  // a release that does not see us is seen by us
    for (std::uint32_t seen = 0;
         !word.compare_exchange_strong(seen, 1, std::memory_order_acquire, relaxed); seen = 0)
      seen_by_all ? futex_wait(&word, 1) : static_cast<void>(futex_wait_for(&word, 1, kRecheckEvery));
    sleeper_table::sleepers(&word).fetch_sub(1, relaxed);
    sleeper_table::total().fetch_sub(1, relaxed);
  }

  static constexpr std::int64_t kRecheckEvery = 1000 * 1000;  // ns; on a kernel without membarrier
  atomic<std::uint32_t> word_{0};
};

// Holds a lock for a block.
template <class Lock>
class VOLE_SCOPED_CAPABILITY holding {
 public:
  explicit holding(Lock& l) noexcept VOLE_ACQUIRE(l) : lock_(l) { lock_.acquire(); }
  ~holding() VOLE_RELEASE() { lock_.release(); }
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;

 private:
  Lock& lock_;
};

}  // namespace vole::base
