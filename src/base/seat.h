// What a P says of itself when it is in something of its own, and how that is taken back.
//
// A compare-exchange may cost as much as all that a short lock guards, and most locks are taken
// by one P many times in a row. Such a thing is given to that P, its owner. The owner uses it
// without a locked instruction, and says where it is in a place of its own, its seat:
//
//     the owner                          who takes it back (one at a time)
//     seat = the thing's name            owner = nobody
//     owner == me ? in : seat = 0        membarrier on every core
//     ...                                waits while the owner's seat == the name
//     seat = 0                           from here on it is nobody's
//
// After the membarrier an owner has either been seen in its seat, and is waited for, or will see
// that it is owner no more.
//
// Who    is_owned_by, try_sit, stand_up: who has the P of the seat, inside the runtime. The rest:
//        who says which lock guards the Ownership.
// Law    a seat is used by one thread at a time, for one thing at a time, or for all locks that its
//        P owns (select).
// Law    who sits in a mutex (sync/mutex_own.cc) runs no user code and waits for nobody. Who sits in
//        a lock, or everywhere, may run a value's move, which may take back a mutex: it waits for
//        who sits in that, so for no more than that. It takes back no lock (sched/value_move.h).
//        Who waits for who sits in a lock does not sit, and holds no lock of a higher rank.
// Note   to whom it is given: who has taken it kBiasAfter times in a row. If it must be taken back
//        sooner than kPaid, the next one needs twice as many: a membarrier costs little beside
//        what was saved before, or beside what led to it.
// Note   a seat outlives its P, its runtime and the thing: see whose static it is (sched/state.h).
// Proof  tests/model/biased_lock_model.cc, tests/model/mutex_own_model.cc
#pragma once

#include <climits>
#include <cstdint>

#include "base/atomic.h"
#include "base/fatal.h"
#include "base/likely.h"
#include "base/lock.h"

namespace vole::base {

struct alignas(64) seat {
  static constexpr std::uint32_t kEverywhere = ~std::uint32_t{0};  // in all locks that are its own
  atomic<std::uint32_t> at{0};  // a name; 0: none

  // Returns when it is not in what has this name.
  void await_leaving(std::uint32_t name) noexcept {
    for (int i = 0; i < kLockSpins; ++i) {
      if (!is_in(at.load(acquire), name)) return;  // pairs: who leaves
      cpu_relax();
    }
    lot::total().fetch_add(1, relaxed);
    lot::sleepers(&at).fetch_add(1, relaxed);
    must_membarrier();  // who leaves and does not see us is seen by us
    for (std::uint32_t seen; is_in(seen = at.load(acquire), name);) futex_wait(&at, seen);
    lot::sleepers(&at).fetch_sub(1, relaxed);
    lot::total().fetch_sub(1, relaxed);
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
struct ownership {
  // 0, or a seat's address, whose lowest bit says: not yet its own, but it took it last.
  atomic<std::uintptr_t> owner{0};
  std::uint32_t count = 0;  // so many times to go, for who took it last; owned: since when, in us
  std::uint8_t doublings = 0;
};

namespace own {

inline constexpr std::uint32_t kPaid = 100;  // us

inline std::uintptr_t owned_by(const seat& s) noexcept {
  return reinterpret_cast<std::uintptr_t>(&s);
}
inline std::uintptr_t taken_by(const seat& s) noexcept { return owned_by(s) | 1; }
inline bool is_owned(std::uintptr_t owner) noexcept { return owner != 0 && (owner & 1) == 0; }

// Names. Another thing may have the same, another kind of thing may not. Both lie at multiples of 8.
inline std::uint32_t name_of_lock(const void* l) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(l)) + 1;
}
inline std::uint32_t name_of_mutex(const void* m) noexcept {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(m)) + 2;
}

template <class Ownership>
[[gnu::always_inline]] inline bool is_owned_by(const Ownership& o, const seat& mine) noexcept {
  return o.owner.load(relaxed) == owned_by(mine);
}

// Our own, a moment ago. False: not any more; stand_up().
template <class Ownership>
[[gnu::always_inline]] inline bool try_sit(const Ownership& o, seat& mine,
                                           std::uint32_t name) noexcept {
  // Releases what was done in the thing before: who waits for that may see this name first.
  mine.at.store(name, std::memory_order_release);  // pairs: await_leaving
  compiler_barrier();                                        // pairs: the membarrier of take_back
  return likely(is_owned_by(o, mine));
}

// In every lock that is our own: what is_owned_by says from here on holds until stand_up().
inline void sit_everywhere(seat& mine) noexcept {
  mine.at.store(seat::kEverywhere, std::memory_order_release);  // pairs: await_leaving
  compiler_barrier();                                           // pairs: take_back
}

// In two halves: out already; false: wake_sleeper_of(&mine.at) is still to be called.
[[nodiscard]] inline bool stand_up_quietly(atomic<std::uint32_t>* at) noexcept {
  at->store(0, std::memory_order_release);  // pairs: await_leaving
  compiler_barrier();                       // pairs: its membarrier
  return lot::total().load(relaxed) == 0;
}
inline void stand_up(seat& mine) noexcept {
  if (!stand_up_quietly(&mine.at)) [[unlikely]] wake_sleeper_of(&mine.at);
}

// `mine` has taken it n times more. False: it is to be given to it, or is somebody's own.
template <class Ownership>
[[gnu::always_inline]] inline bool count(Ownership& o, const seat& mine, std::uint32_t n) noexcept {
  const std::uintptr_t owner = o.owner.load(relaxed);
  if (likely(owner == taken_by(mine))) {
    if (!likely(o.count > n)) return false;
    o.count -= n;
    return true;
  }
  if (is_owned(owner)) [[unlikely]] return false;
  o.owner.store(taken_by(mine), relaxed);
  o.count = kBiasAfter << o.doublings;
  return true;
}

template <class Ownership>
inline void give(Ownership& o, const seat& s) noexcept {
  o.count = clock_us();
  o.owner.store(owned_by(s), relaxed);
}

// It is somebody's own. `mine`: the taker's seat, if it has one: in its own thing it does not sit.
template <class Ownership>
inline void take_back(Ownership& o, std::uint32_t name, const seat* mine) noexcept {
  auto* const whose = reinterpret_cast<seat*>(o.owner.load(relaxed));
  o.owner.store(0, relaxed);
  if (whose != mine) {
    seat::must_membarrier();  // pairs: try_sit
    whose->await_leaving(name);
  }
  if (clock_us() - o.count > kPaid) {
    o.doublings = 0;
  } else if (o.doublings < kBiasDoublings) {
    ++o.doublings;
  }
}

}  // namespace own
}  // namespace vole::base
