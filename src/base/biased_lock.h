// A lock that a P which takes it again and again takes without a locked instruction.
//
// The owner (base/bias.h) does not touch the lock's word. Anybody else takes the word, as of any
// lock, then takes the lock back from its owner, and has it.
//
// Who    acquire, try_acquire, release: as of base::lock. The rest: who has the P of the presence,
//        inside the runtime.
// Law    what lies beside the word changes under the word only.
// Note   who takes the word without a presence (a plain thread, a select) begins the count anew: a lock
//        that is used in both ways is nobody's own.
// Note   not of standard layout: who has one lays its own bytes into the padding at its end.
// Proof  tests/model/biased_lock_model.cc
#pragma once

#include <cstdint>

#include "base/lock.h"
#include "base/bias.h"

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

  // ── anybody, by the word ── `mine`: as of bias::revoke.
  void acquire(const presence* mine = nullptr) noexcept {
    word_.acquire();
    forget(mine);
  }
  void acquire_next_of_kind(const presence* mine = nullptr) noexcept {
    word_.acquire_next_of_kind();
    forget(mine);
  }
  bool try_acquire(const presence* mine = nullptr) noexcept {
    if (!word_.try_acquire()) return false;
    forget(mine);
    return true;
  }
  void release() noexcept { word_.release(); }
  bool held() const noexcept { return word_.held(); }

  // ── who has a presence ──
  // Returns the word that frees it, by free() or by a door (sched/park.h).
  [[gnu::noinline]] atomic<std::uint32_t>* take(presence& mine) noexcept {
    if (is_biased_to(mine)) {
      if (try_enter_biased(mine)) return &mine.at;
      bias::exit_biased(mine);
    }
    word_.acquire();
    if (!bias::count(whose_, mine, 1)) settle(mine);
    return word();
  }

  // The parts of it, for who would not make a call. Our own: try_enter_biased, and &mine.at frees it, or
  // bias::exit_biased.
  bool is_biased_to(const presence& mine) const noexcept { return bias::is_biased_to(whose_, mine); }
  [[gnu::always_inline]] bool try_enter_biased(presence& mine) noexcept {
    if (!bias::try_enter_biased(whose_, mine, bias::name_of_lock(this))) return false;
    lock_order::took(Rank);
    return true;
  }
  // Not our own: word() frees it.
  [[gnu::always_inline]] taking try_take_word(const presence& mine) noexcept {
    if (!word_.try_acquire()) [[unlikely]] return taking::held;
    return likely(bias::count(whose_, mine, 1)) ? taking::in : taking::unsettled;
  }
  // For who sits everywhere already. in: *by_word says whether release() frees it, or revoke_bias().
  [[gnu::always_inline]] taking try_take_biased(const presence& mine, bool* by_word) noexcept {
    *by_word = !is_biased_to(mine);
    if (!*by_word) {
      lock_order::took(Rank);
      return taking::in;
    }
    const taking t = try_take_word(mine);
    return likely(t != taking::unsettled) ? t : settle_biased(mine);
  }
  static void revoke_bias() noexcept { lock_order::releasing(Rank); }  // and exit_biased() is to follow
  atomic<std::uint32_t>* word() noexcept { return word_.word(); }
  // And after taking::unsettled; ours from when the word is free.
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
  // One that is somebody else's is left alone: its owner may sit, and wait for us.
  [[gnu::noinline]] taking settle_biased(const presence& mine) noexcept {
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
