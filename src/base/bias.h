// What a P says of itself when it is in something of its own, and how that is taken back.
//
// A compare-exchange may cost as much as all that a short lock guards, and most locks are taken
// by one P many times in a row. Such a thing is given to that P, its owner. The owner uses it
// without a locked instruction, and says where it is in a place of its own, its presence:
//
//     the owner                          who takes it back (one at a time)
//     presence = the thing's name            owner = nobody
//     owner == me ? in : presence = 0        membarrier on every core
//     ...                                waits while the owner's presence == the name
//     presence = 0                           from here on it is nobody's
//
// After the membarrier an owner has either been seen in its presence, and is waited for, or will see
// that it is owner no more.
//
// Who    is_biased_to, try_enter_biased, exit_biased: who has the P of the presence, inside the runtime. The rest:
//        who says which lock guards the BiasState.
// Law    a presence is used by one thread at a time, for one thing at a time, or for all locks that its
//        P owns (select).
// Law    who sits in a mutex (sync/mutex_biased.cc) runs no user code and waits for nobody. Who sits in
//        a lock, or everywhere, may run a value's move, which may take back a mutex: it waits for
//        who sits in that, so for no more than that. It takes back no lock (sched/life/value_move.h).
//        Who waits for who sits in a lock does not sit, and holds no lock of a higher rank.
// Note   to whom it is given: who has taken it kBiasAfter times in a row. If it must be taken back
//        sooner than kPaid, the next one needs twice as many: a membarrier costs little beside
//        what was saved before, or beside what led to it.
// Note   a presence outlives its P, its runtime and the thing: see whose static it is (sched/state.h).
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
  atomic<std::uint32_t> at{0};  // a name; 0: none

  // Returns when it is not in what has this name.
  void await_exit(std::uint32_t name) noexcept {
    for (int i = 0; i < kLockSpins; ++i) {
      if (!is_in(at.load(acquire), name)) return;  // pairs: who leaves
      cpu_relax();
    }
    sleeper_table::total().fetch_add(1, relaxed);
    sleeper_table::sleepers(&at).fetch_add(1, relaxed);
    must_membarrier();  // who leaves and does not see us is seen by us
    for (std::uint32_t seen; is_in(seen = at.load(acquire), name);) futex_wait(&at, seen);
    sleeper_table::sleepers(&at).fetch_sub(1, relaxed);
    sleeper_table::total().fetch_sub(1, relaxed);
    futex_wake(&at, INT_MAX);  // who leaves wakes one; another thing may have the same name
  }

  static bool is_in(std::uint32_t at, std::uint32_t name) noexcept {
    return at == name || (at == kEverywhere && is_of_lock(name));
  }
  // Locks have odd names and mutexes even ones. So who is seen in a mutex is in no lock.
  static constexpr bool is_of_lock(std::uint32_t name) noexcept { return (name & 1) != 0; }
  static void must_membarrier() noexcept {
    for (int tries = 0; !membarrier(); ++tries)  // for want of memory, on some kernels
      if (tries == kTries) fatal("lock: the kernel refuses a membarrier that it has granted before");
  }
  static constexpr int kTries = 1000;
};

// Whose it is. One struct for locks, a twin in the public headers for mutexes.
struct bias_state {
  // 0, or a presence's address, whose lowest bit says: not yet its own, but it took it last.
  atomic<std::uintptr_t> biased_to{0};
  std::uint32_t count = 0;  // so many times to go, for who took it last; owned: since when, in us
  std::uint8_t doublings = 0;
};

namespace bias {

inline constexpr std::uint32_t kPaid = 100;  // us

inline std::uintptr_t biased_to_word(const presence& s) noexcept {
  return reinterpret_cast<std::uintptr_t>(&s);
}
inline std::uintptr_t taken_by(const presence& s) noexcept { return biased_to_word(s) | 1; }
inline bool is_biased(std::uintptr_t to) noexcept { return to != 0 && (to & 1) == 0; }

// Names. Another thing may have the same, another kind of thing may not. Both lie at multiples of 8.
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

// Our own, a moment ago. False: not any more; exit_biased().
template <class BiasState>
[[gnu::always_inline]] inline bool try_enter_biased(const BiasState& o, presence& mine,
                                           std::uint32_t name) noexcept {
  // Releases what was done in the thing before: who waits for that may see this name first.
  mine.at.store(name, std::memory_order_release);  // pairs: await_exit
  compiler_barrier();                                        // pairs: the membarrier of revoke
  return likely(is_biased_to(o, mine));
}

// In every lock that is our own: what is_biased_to says from here on holds until exit_biased().
inline void enter_all_biased(presence& mine) noexcept {
  mine.at.store(presence::kEverywhere, std::memory_order_release);  // pairs: await_exit
  compiler_barrier();                                           // pairs: revoke
}

// In two halves: out already; false: wake_sleeper_of(&mine.at) is still to be called.
[[nodiscard]] inline bool exit_biased_quietly(atomic<std::uint32_t>* at) noexcept {
  at->store(0, std::memory_order_release);  // pairs: await_exit
  compiler_barrier();                       // pairs: its membarrier
  return sleeper_table::total().load(relaxed) == 0;
}
inline void exit_biased(presence& mine) noexcept {
  if (!exit_biased_quietly(&mine.at)) [[unlikely]] wake_sleeper_of(&mine.at);
}

// `mine` has taken it n times more. False: it is to be given to it, or is somebody's own.
template <class BiasState>
[[gnu::always_inline]] inline bool count(BiasState& o, const presence& mine, std::uint32_t n) noexcept {
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

// It is somebody's own. `mine`: the taker's presence, if it has one: in its own thing it does not sit.
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
