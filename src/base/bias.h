// Bias: a lock or a mutex that one P takes again and again becomes that P's own.
//
// A compare-exchange may cost as much as everything a short lock guards, and most locks are taken
// by one P many times in a row. Such a lock is biased to that P, its owner. The owner enters it
// without a locked instruction: it only writes the lock's name into its presence, a word of the P.
// Anybody else must revoke the bias first:
//
//     the owner                              the revoker (one at a time)
//     presence = the lock's name             owner = nobody
//     owner == me ? inside : presence = 0    membarrier on every core
//     ...                                    waits while the owner's presence == the name
//     presence = 0                           from here on the lock is nobody's own
//
// Once the membarrier has returned, one of two things holds: the revoker sees the owner inside and
// waits until it leaves; or the owner, when it next enters, sees that the bias is revoked and takes
// the slow path.
//
// Who    is_biased_to, try_enter_biased and exit_biased are called inside the runtime by the M that
//        holds the presence's P. count, bias_towards and revoke change a BiasState: they are called
//        under the lock that the BiasState's owner has for it.
// Law    a presence is used by one thread at a time, for one lock or mutex at a time, or for all
//        locks that its P owns (select).
// Law    an M that is inside a biased mutex (sync/mutex_biased.cc) runs no user code and waits for
//        nobody. One that is inside a biased lock, or inside all of its P's, may run a value's move,
//        which may revoke a mutex: it then waits for that mutex's owner, who waits for nobody. It
//        never revokes a lock (sched/life/value_move.h). A thread that revokes a lock is inside
//        nothing biased and holds no lock of a higher rank.
// Note   a P becomes the owner after it has taken the lock kBiasAfter times in a row. If the bias is
//        revoked sooner than kPaid, the next owner needs twice as many: a membarrier costs little
//        beside what a longer bias has saved.
// Note   a presence outlives its P, its runtime and the lock: sched/state.h has them all.
// Proof  tests/model/biased_lock_model.cc, tests/model/mutex_biased_model.cc
#pragma once

#include <climits>
#include <cstdint>

#include "base/atomic.h"
#include "base/fatal.h"
#include "base/likely.h"
#include "base/lock.h"

namespace vole::base {

struct alignas(64) presence {
  static constexpr std::uint32_t kEverywhere = ~std::uint32_t{0};  // in all locks that are its own
  atomic<std::uint32_t> at{0};                                     // a name; 0: in none

  // Returns when the owner is not in what has this name.
  void await_exit(std::uint32_t name) noexcept {
    for (int i = 0; i < kLockSpins; ++i) {
      if (!is_in(at.load(acquire), name)) return;  // pairs: exit_biased_quietly
      cpu_relax();
    }
    sleeper_table::total().fetch_add(1, relaxed);
    sleeper_table::sleepers(&at).fetch_add(1, relaxed);
    must_membarrier();  // an owner that leaves without seeing us is seen by us
    for (std::uint32_t seen; is_in(seen = at.load(acquire), name);) futex_wait(&at, seen);
    sleeper_table::sleepers(&at).fetch_sub(1, relaxed);
    sleeper_table::total().fetch_sub(1, relaxed);
    futex_wake(&at, INT_MAX);  // leaving wakes one sleeper; another lock may have the same name
  }

  static bool is_in(std::uint32_t at, std::uint32_t name) noexcept {
    return at == name || (at == kEverywhere && is_of_lock(name));
  }
  // Locks have odd names and mutexes even ones. So an owner that is seen in a mutex is in no lock.
  static constexpr bool is_of_lock(std::uint32_t name) noexcept { return (name & 1) != 0; }
  static void must_membarrier() noexcept {
    for (int tries = 0; !membarrier(); ++tries)  // for want of memory, on some kernels
      if (tries == kTries)
        fatal(
            "lock: the kernel refuses a membarrier that it has granted before. Has a sandbox (seccomp) "
            "been set up since? It must allow membarrier");
  }
  static constexpr int kTries = 1000;
};

// Which P owns the lock. This struct is for locks; mutexes have a twin in the public headers.
struct bias_state {
  // 0, or a presence's address. Its lowest bit says that this P took the lock last but does not own
  // it yet.
  atomic<std::uintptr_t> biased_to{0};
  std::uint32_t count = 0;  // how often that P must still take it; owned: since when, in us
  std::uint8_t doublings = 0;
};

namespace bias {

inline constexpr std::uint32_t kPaid = 100;  // us

inline std::uintptr_t biased_to_word(const presence& s) noexcept {
  return reinterpret_cast<std::uintptr_t>(&s);
}
inline std::uintptr_t taken_by(const presence& s) noexcept { return biased_to_word(s) | 1; }
inline bool is_biased(std::uintptr_t to) noexcept { return to != 0 && (to & 1) == 0; }

// Names. Two locks may share one, and so may two mutexes, but never a lock and a mutex. Both lie at
// multiples of 8.
inline std::uint32_t name_of_lock(const void* l) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(l)) + 1;
}
inline std::uint32_t name_of_mutex(const void* m) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(m)) + 2;
}

template <class BiasState>
[[gnu::always_inline]] inline bool is_biased_to(const BiasState& o, const presence& mine) noexcept {
  return o.biased_to.load(relaxed) == biased_to_word(mine);
}

// For one that was our own a moment ago. False: it is not any more; exit_biased() must follow.
template <class BiasState>
[[gnu::always_inline]] inline bool try_enter_biased(const BiasState& o, presence& mine,
                                                    std::uint32_t name) noexcept {
  // Releases what was done in the lock before: a revoker of that one may see this name first.
  mine.at.store(name, std::memory_order_release);  // pairs: await_exit
  compiler_barrier();                              // pairs: the membarrier of revoke
  return likely(is_biased_to(o, mine));
}

// Enters every lock that is our own: what is_biased_to says from here on holds until exit_biased().
inline void enter_all_biased(presence& mine) noexcept {
  mine.at.store(presence::kEverywhere, std::memory_order_release);  // pairs: await_exit
  compiler_barrier();                                               // pairs: revoke
}

// exit_biased in two halves. We are out when this returns; false: wake_sleeper_of(&mine.at) is still
// to be called.
[[nodiscard]] inline bool exit_biased_quietly(atomic<std::uint32_t>* at) noexcept {
  at->store(0, std::memory_order_release);  // pairs: await_exit
  compiler_barrier();                       // pairs: its membarrier
  return sleeper_table::total().load(relaxed) == 0;
}
inline void exit_biased(presence& mine) noexcept {
  if (!exit_biased_quietly(&mine.at)) [[unlikely]] wake_sleeper_of(&mine.at);
}

// `mine` has taken it n times more. False: `mine` has earned the bias, or the lock is somebody's own.
template <class BiasState>
[[gnu::always_inline]] inline bool count(BiasState& o, const presence& mine,
                                         std::uint32_t n) noexcept {
  const std::uintptr_t to = o.biased_to.load(relaxed);
  if (likely(to == taken_by(mine))) {
    if (!likely(o.count > n)) return false;
    o.count -= n;
    return true;
  }
  if (is_biased(to)) [[unlikely]] return false;
  o.biased_to.store(taken_by(mine), relaxed);
  o.count = kBiasAfter << o.doublings;
  return true;
}

template <class BiasState>
inline void bias_towards(BiasState& o, const presence& s) noexcept {
  o.count = clock_us();
  o.biased_to.store(biased_to_word(s), relaxed);
}

// The lock is somebody's own. `mine` is the revoker's presence, if it has one: a revoker is not inside
// its own lock, so it does not wait for itself.
template <class BiasState>
inline void revoke(BiasState& o, std::uint32_t name, const presence* mine) noexcept {
  auto* const whose = reinterpret_cast<presence*>(o.biased_to.load(relaxed));
  o.biased_to.store(0, relaxed);
  if (whose != mine) {
    presence::must_membarrier();  // pairs: try_enter_biased
    whose->await_exit(name);
  }
  if (clock_us() - o.count > kPaid) {
    o.doublings = 0;
  } else if (o.doublings < kBiasDoublings) {
    ++o.doublings;
  }
}

}  // namespace bias
}  // namespace vole::base
