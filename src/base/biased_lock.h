// A lock that a P which takes it again and again takes without a locked instruction.
//
// The owner (base/seat.h) does not touch the lock's word. Anybody else takes the word, as of any
// lock, then takes the lock back from its owner, and has it.
//
// Who    acquire, try_acquire, release: as of base::lock. The rest: who has the P of the seat,
//        inside the runtime.
// Law    what lies beside the word changes under the word only.
// Note   who takes the word without a seat (a plain thread, a select) begins the count anew: a lock
//        that is used in both ways is nobody's own.
// Note   not of standard layout: who has one lays its own bytes into the padding at its end.
// Proof  tests/model/biased_lock_model.cc
#pragma once

#include <cstdint>

#include "base/lock.h"
#include "base/seat.h"

namespace vole::base {

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

  // ── anybody, by the word ── `mine`: as of own::take_back.
  void acquire(const seat* mine = nullptr) noexcept {
    word_.acquire();
    forget(mine);
  }
  void acquire_next_of_kind(const seat* mine = nullptr) noexcept {
    word_.acquire_next_of_kind();
    forget(mine);
  }
  bool try_acquire(const seat* mine = nullptr) noexcept {
    if (!word_.try_acquire()) return false;
    forget(mine);
    return true;
  }
  void release() noexcept { word_.release(); }
  bool held() const noexcept { return word_.held(); }

  // ── who has a seat ──
  // Returns the word that frees it, by free() or by a door (sched/park.h).
  [[gnu::noinline]] atomic<std::uint32_t>* take(seat& mine) noexcept {
    if (is_owned_by(mine)) {
      if (try_sit(mine)) return &mine.at;
      own::stand_up(mine);
    }
    word_.acquire();
    if (!own::count(whose_, mine, 1)) settle(mine);
    return word();
  }

  // The parts of it, for who would not make a call. Our own: try_sit, and &mine.at frees it, or
  // own::stand_up.
  bool is_owned_by(const seat& mine) const noexcept { return own::is_owned_by(whose_, mine); }
  [[gnu::always_inline]] bool try_sit(seat& mine) noexcept {
    if (!own::try_sit(whose_, mine, own::name_of_lock(this))) return false;
    lock_order::took(Rank);
    return true;
  }
  // Not our own: word() frees it.
  [[gnu::always_inline]] taking try_take_word(const seat& mine) noexcept {
    if (!word_.try_acquire()) [[unlikely]] return taking::held;
    return likely(own::count(whose_, mine, 1)) ? taking::in : taking::unsettled;
  }
  // For who sits everywhere already. in: *by_word says whether release() frees it, or unseat().
  [[gnu::always_inline]] taking try_take_sitting(const seat& mine, bool* by_word) noexcept {
    *by_word = !is_owned_by(mine);
    if (!*by_word) {
      lock_order::took(Rank);
      return taking::in;
    }
    const taking t = try_take_word(mine);
    return likely(t != taking::unsettled) ? t : settle_sitting(mine);
  }
  static void unseat() noexcept { lock_order::releasing(Rank); }  // and stand_up() is to follow
  atomic<std::uint32_t>* word() noexcept { return word_.word(); }
  // And after taking::unsettled; ours from when the word is free.
  [[gnu::noinline]] void settle(const seat& mine) noexcept {
    own::is_owned(whose_.owner.load(relaxed)) ? own::take_back(whose_, own::name_of_lock(this), &mine)
                                              : own::give(whose_, mine);
  }

  // In two halves, as release_quietly() and wake_sleeper() of base::lock.
  [[nodiscard]] static bool free_quietly(atomic<std::uint32_t>* by) noexcept {
    lock_order::releasing(Rank);
    return own::stand_up_quietly(by);  // the word is freed in the same way
  }
  static void free(atomic<std::uint32_t>* by) noexcept {
    if (!free_quietly(by)) [[unlikely]] wake_sleeper_of(by);
  }

 private:
  // One that is somebody else's is left alone: its owner may sit, and wait for us.
  [[gnu::noinline]] taking settle_sitting(const seat& mine) noexcept {
    if (!own::is_owned(whose_.owner.load(relaxed))) {
      own::give(whose_, mine);
      return taking::in;
    }
    word_.release();
    return taking::held;
  }
  void forget(const seat* mine) noexcept {
    const std::uintptr_t owner = whose_.owner.load(relaxed);
    if (owner == 0) return;
    if (own::is_owned(owner)) [[unlikely]] return take_back(mine);
    whose_.owner.store(0, relaxed);
  }
  [[gnu::noinline]] void take_back(const seat* mine) noexcept {
    own::take_back(whose_, own::name_of_lock(this), mine);
  }

  lock<Rank> word_;
  ownership whose_;
};

}  // namespace vole::base
