// A lock that a P which takes it again and again takes without a locked instruction.
//
// A compare-exchange may cost as much as all that a short lock guards, and most locks are taken
// by one P many times in a row. Such a lock is given to that P, its owner. The owner does not
// touch the lock's word; it says where it is in a place of its own, its seat:
//
//     the owner                          anybody else
//     seat = this lock                   takes the word, as of any lock
//     owner == me ? in : seat = 0        owner = nobody
//     ...                                membarrier on every core
//     seat = 0                           waits while the owner's seat == this lock: in
//
// After the membarrier an owner has either been seen in its seat, and is waited for, or will see
// that it is owner no more, and take the word like everybody else.
//
// Who    acquire, try_acquire, release: as of base::lock. The rest: who has the P of the seat,
//        inside the runtime.
// Law    what lies beside the word changes under the word only. A seat is used by one thread at a
//        time, for one lock at a time, and who sits takes no other lock: so it may be waited for
//        with any lock held.
// Note   whom it is given to: who has taken it limit_ times in a row. If it must be taken back
//        sooner than kPaid, the next one needs twice as many: what a membarrier costs is small
//        beside what was saved before, or beside what led to it.
// Note   a seat outlives its P, its runtime and the lock: see whose static it is (sched/state.h).
// Proof  tests/model/biased_lock_model.cc
#pragma once

#include <climits>
#include <cstdint>

#include "base/atomic.h"
#include "base/fatal.h"
#include "base/likely.h"
#include "base/lock.h"

namespace vole::base {

struct alignas(64) seat {
  atomic<std::uint32_t> at{0};  // a lock's name; 0: none

  // Returns when it is not `name`.
  void await_leaving(std::uint32_t name) noexcept {
    for (int i = 0; i < kLockSpins; ++i) {
      if (at.load(acquire) != name) return;  // pairs: free
      cpu_relax();
    }
    lot::total().fetch_add(1, relaxed);
    lot::sleepers(&at).fetch_add(1, relaxed);
    must_membarrier();  // who leaves and does not see us is seen by us
    while (at.load(acquire) == name) futex_wait(&at, name);
    lot::sleepers(&at).fetch_sub(1, relaxed);
    lot::total().fetch_sub(1, relaxed);
    futex_wake(&at, INT_MAX);  // one is woken by who leaves; another lock may have the same name
  }

  static void must_membarrier() noexcept {
    if (!membarrier()) fatal("lock: the kernel refused a membarrier that it has granted before");
  }
};

// How a lock was met.
enum class taking : std::uint8_t {
  in,
  unsettled,  // the word is ours: settle() still has something to do
  held,       // it is not ours
};

template <lock_rank Rank>
class biased_lock {
 public:
  constexpr biased_lock() noexcept = default;
  biased_lock(const biased_lock&) = delete;
  biased_lock& operator=(const biased_lock&) = delete;

  // ── anybody, by the word ──
  void acquire() noexcept {
    word_.acquire();
    forget();
  }
  void acquire_next_of_kind() noexcept {
    word_.acquire_next_of_kind();
    forget();
  }
  bool try_acquire() noexcept {
    if (!word_.try_acquire()) return false;
    forget();
    return true;
  }
  void release() noexcept { word_.release(); }
  bool held() const noexcept { return word_.held(); }

  // ── who has a seat ──
  // Returns the word that frees it, by free() or by a door (sched/park.h).
  [[gnu::noinline]] atomic<std::uint32_t>* take(seat& mine) noexcept {
    if (is_owned_by(mine)) {
      if (try_sit(mine)) return &mine.at;
      stand_up(mine);
    }
    word_.acquire();
    if (!count(mine)) settle(mine);
    return word();
  }

  // The parts of it, for who would not make a call. Our own: try_sit, and &mine.at frees it, or
  // stand_up.
  bool is_owned_by(const seat& mine) const noexcept {
    return owner_.load(relaxed) == owned_by(mine);
  }
  [[gnu::always_inline]] bool try_sit(seat& mine) noexcept {
    mine.at.store(name(), relaxed);
    compiler_barrier();  // pairs: the membarrier of take_back
    if (!likely(is_owned_by(mine))) return false;
    lock_order::took(Rank);
    return true;
  }
  // free(), of what was not taken.
  static void stand_up(seat& mine) noexcept {
    mine.at.store(0, std::memory_order_release);
    compiler_barrier();
    if (lot::total().load(relaxed) != 0) wake_sleeper_of(&mine.at);
  }
  // Not our own: word() frees it.
  [[gnu::always_inline]] taking try_take_word(const seat& mine) noexcept {
    if (!word_.try_acquire()) [[unlikely]]
      return taking::held;
    return likely(count(mine)) ? taking::in : taking::unsettled;
  }
  atomic<std::uint32_t>* word() noexcept { return word_.word(); }
  // And after taking::unsettled:
  [[gnu::noinline]] void settle(seat& mine) noexcept {
    const std::uintptr_t owner = owner_.load(relaxed);
    if (is_owned(owner)) {
      take_back(owner);
      return;
    }
    owner_.store(owned_by(mine), relaxed);  // from when the word is free
    given_at_ = clock_us();
  }

  // In two halves, as release_quietly() and wake_sleeper() of base::lock.
  [[nodiscard]] static bool free_quietly(atomic<std::uint32_t>* by) noexcept {
    lock_order::releasing(Rank);
    by->store(0, std::memory_order_release);  // pairs: await_leaving; base::lock
    compiler_barrier();                       // pairs: the membarrier of who sleeps
    return lot::total().load(relaxed) == 0;
  }
  static void free(atomic<std::uint32_t>* by) noexcept {
    if (!free_quietly(by)) [[unlikely]]
      wake_sleeper_of(by);
  }

 private:
  // owner_: 0, or a seat's address, whose lowest bit says: not yet, but who took it last.
  static std::uintptr_t owned_by(const seat& s) noexcept {
    return reinterpret_cast<std::uintptr_t>(&s);
  }
  static std::uintptr_t taken_by(const seat& s) noexcept { return owned_by(s) | 1; }
  static bool is_owned(std::uintptr_t owner) noexcept { return owner != 0 && (owner & 1) == 0; }

  std::uint32_t name() const noexcept {  // others may have it, too
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(this) >> 4) | 1;
  }

  // One more in a row. False: settle().
  [[gnu::always_inline]] bool count(const seat& mine) noexcept {
    const std::uintptr_t owner = owner_.load(relaxed);
    if (likely(owner == taken_by(mine))) return likely(--left_ != 0);
    if (is_owned(owner)) [[unlikely]]
      return false;
    owner_.store(taken_by(mine), relaxed);
    left_ = limit_;
    return true;
  }

  // Who takes the word without a seat: nobody is on the way to owning it any more.
  void forget() noexcept {
    const std::uintptr_t owner = owner_.load(relaxed);
    if (owner == 0) return;
    if (is_owned(owner)) [[unlikely]]
      return take_back(owner);
    owner_.store(0, relaxed);
  }

  [[gnu::noinline]] void take_back(std::uintptr_t owner) noexcept {
    owner_.store(0, relaxed);
    seat::must_membarrier();  // pairs: try_sit
    reinterpret_cast<seat*>(owner)->await_leaving(name());
    const bool paid = clock_us() - given_at_ > kPaid;
    if (paid)
      limit_ = kBiasAfter;
    else if (limit_ < kBiasAfterMost)
      limit_ *= 2;
  }

  static constexpr std::uint32_t kPaid = 1000;  // us

  lock<Rank> word_;
  std::uint32_t left_ = 0;  // under the word, as all below: to go, for who took it last
  atomic<std::uintptr_t> owner_{0};
  std::uint32_t limit_ = kBiasAfter;
  std::uint32_t given_at_ = 0;  // us, modulo 2^32
};

}  // namespace vole::base
