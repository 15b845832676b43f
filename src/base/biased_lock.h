// A lock that can be biased: its owner takes it without a locked instruction.
//
// The owner (base/bias.h) does not touch the lock's word. Anybody else takes the word, as that of any
// lock, then revokes the bias, and holds the lock.
//
// Who    acquire, try_acquire and release are called as those of base::lock. The rest is for the M
//        that holds the presence's P, inside the runtime.
// Law    whose_ changes only while the word is held.
// Note   a thread that takes the word without a presence (a plain thread, a select) begins the count
//        anew: a lock that is used in both ways is never biased.
// Note   not of standard layout: a class that contains one puts its own bytes into the padding at
//        the end.
// Proof  tests/model/biased_lock_model.cc
#pragma once

#include <cstdint>

#include "base/lock.h"
#include "base/bias.h"

namespace vole::base {

// How an attempt to take a lock went.
enum class taking : std::uint8_t {
  in,         // we hold it
  unsettled,  // we hold its word; settle() must follow
  held,       // somebody else has it
};

template <lock_rank Rank>
class biased_lock {
 public:
  constexpr biased_lock() noexcept = default;
  biased_lock(const biased_lock&) = delete;
  biased_lock& operator=(const biased_lock&) = delete;

  // ── by the word, from any thread ── `mine` is that of bias::revoke.
  void acquire(const presence* mine = nullptr) noexcept VOLE_UNCHECKED {
    word_.acquire();
    forget(mine);
  }
  atomic<std::uint32_t>* acquire_word() noexcept {  // returns the word that frees it, as take() does
    acquire();
    return word();
  }
  void acquire_next_of_kind(const presence* mine = nullptr) noexcept VOLE_UNCHECKED {
    word_.acquire_next_of_kind();
    forget(mine);
  }
  bool try_acquire(const presence* mine = nullptr) noexcept VOLE_UNCHECKED {
    if (!word_.try_acquire()) return false;
    forget(mine);
    return true;
  }
  void release() noexcept VOLE_UNCHECKED { word_.release(); }
  bool held() const noexcept { return word_.held(); }

  // ── with a presence ──
  // Returns the word that frees it, by free() or by a door (sched/park.h).
  [[gnu::noinline]] atomic<std::uint32_t>* take(presence& mine) noexcept VOLE_UNCHECKED {
    if (is_biased_to(mine)) {
      if (try_enter_biased(mine)) return &mine.at;
      bias::exit_biased(mine);
    }
    word_.acquire();
    if (!bias::count(whose_, mine, 1)) settle(mine);
    return word();
  }

  // The parts of take, for callers that want no call. If the lock is our own: try_enter_biased, and
  // then &mine.at, or bias::exit_biased, frees it.
  bool is_biased_to(const presence& mine) const noexcept { return bias::is_biased_to(whose_, mine); }
  [[gnu::always_inline]] bool try_enter_biased(presence& mine) noexcept {
    if (!bias::try_enter_biased(whose_, mine, bias::name_of_lock(this))) return false;
    lock_order::took(Rank);
    return true;
  }
  // If it is not our own: word() frees it.
  [[gnu::always_inline]] taking try_take_word(const presence& mine) noexcept VOLE_UNCHECKED {
    if (!word_.try_acquire()) [[unlikely]] return taking::held;
    return likely(bias::count(whose_, mine, 1)) ? taking::in : taking::unsettled;
  }
  // After enter_all_biased. If the result is `in`, *by_word says which of release() and revoke_bias()
  // frees it.
  [[gnu::always_inline]] taking try_take_biased(const presence& mine, bool* by_word) noexcept {
    *by_word = !is_biased_to(mine);
    if (!*by_word) {
      lock_order::took(Rank);
      return taking::in;
    }
    const taking t = try_take_word(mine);
    return likely(t != taking::unsettled) ? t : settle_biased(mine);
  }
  static void revoke_bias() noexcept { lock_order::releasing(Rank); }  // exit_biased() must follow
  atomic<std::uint32_t>* word() noexcept { return word_.word(); }
  // After taking::unsettled. If it biases the lock to us, that holds from when the word is free.
  [[gnu::noinline]] void settle(const presence& mine) noexcept {
    bias::is_biased(whose_.biased_to.load(relaxed)) ? bias::revoke(whose_, bias::name_of_lock(this), &mine)
                                              : bias::bias_towards(whose_, mine);
  }

  // In two halves, as release_quietly() and wake_sleeper() of base::lock.
  [[nodiscard]] static bool free_quietly(atomic<std::uint32_t>* by) noexcept {
    lock_order::releasing(Rank);
    return bias::exit_biased_quietly(by);  // the word is freed in the same way
  }
  static void free(atomic<std::uint32_t>* by) noexcept {
    if (!free_quietly(by)) [[unlikely]] wake_sleeper_of(by);
  }

 private:
  // Another P's own lock is left alone: its owner may be inside it and wait for us.
  [[gnu::noinline]] taking settle_biased(const presence& mine) noexcept VOLE_UNCHECKED {
    if (!bias::is_biased(whose_.biased_to.load(relaxed))) {
      bias::bias_towards(whose_, mine);
      return taking::in;
    }
    word_.release();
    return taking::held;
  }
  void forget(const presence* mine) noexcept {
    const std::uintptr_t to = whose_.biased_to.load(relaxed);
    if (to == 0) return;
    if (bias::is_biased(to)) [[unlikely]] return revoke(mine);
    whose_.biased_to.store(0, relaxed);
  }
  [[gnu::noinline]] void revoke(const presence* mine) noexcept {
    bias::revoke(whose_, bias::name_of_lock(this), mine);
  }

  lock<Rank> word_;
  bias_state whose_;
};

}  // namespace vole::base
