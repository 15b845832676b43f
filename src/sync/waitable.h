// The word and the list behind everything in this room that can be waited for.
//
// Who    any goroutine, any plain thread.
// Where  the list is touched inside the runtime only, with wait_flag::locked held.
// Law    while a mutex is `biased` only its owner's P changes the word (sync/mutex_biased.cc).
//        `locked` guards the list and whatever the object says it guards. `waiting` is
//        set exactly while the list is not empty (with the lock free). Other bits may
//        change under the lock's holder; so every change is a compare-exchange.
// Note   unlock() changes the word and frees the lock in one step: the last touch of
//        the object. Only then are waiters woken, and they may destroy it.
// Note   a goroutine that is abandoned with the runtime is taken off the list (unlink). Whatever it
//        held, or was handed before it could run, is lost with it.
// Proof  tests/model/mutex_model.cc; tests/stress/sync_stress_test.cc, under ASan and TSan.
#pragma once

#include <climits>
#include <cstdint>

#include <vole/detail/waitable.h>

#include "base/atomic.h"
#include "base/fatal.h"
#include "base/lock_order.h"
#include "base/system.h"
#include "gmp/waiter.h"
#include "sched/park.h"
#include "sched/wait/place.h"

namespace vole {
inline namespace v0 {
namespace detail {

using namespace base;
using rt::M;
using rt::waiter;

inline constexpr std::uint64_t kLocked = wait_flag::locked, kSleepers = wait_flag::sleepers,
                               kWaiting = wait_flag::waiting;

inline std::uint64_t count_of(std::uint64_t word) noexcept {
  return word >> wait_flag::count_shift;
}

// The flags' half of the word, for the futex.
inline atomic<std::uint32_t>* flags_of(waitable& s) noexcept {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  return reinterpret_cast<atomic<std::uint32_t>*>(&s.word);
}

// Revokes the bias of a mutex. Inside the runtime, or undisturbed (sched/hold/strict.h).
void disown_inside(waitable& s) noexcept;

inline void lock(waitable& s) noexcept {
  constexpr int kSpins = 40;
  lock_order::taking(lock_rank::object);
  for (int spins = 0;; ++spins) {
    std::uint64_t seen = s.word.load(relaxed);
    if ((seen & wait_flag::biased) != 0) [[unlikely]] {
      disown_inside(s);
    } else if ((seen & kLocked) == 0) {
      if (s.word.compare_exchange_strong(seen, seen | kLocked, acquire, relaxed)) return;
    } else if (spins < kSpins) {
      cpu_relax();
    } else if ((seen & kSleepers) != 0 ||
               s.word.compare_exchange_strong(seen, seen | kSleepers, relaxed, relaxed)) {
      futex_wait(flags_of(s), static_cast<std::uint32_t>(seen | kSleepers));
    }
  }
}

// word = change(word), and the lock is free. The object may be gone right after.
template <class Change>
inline void unlock(waitable& s, Change change) noexcept {
  lock_order::releasing(lock_rank::object);
  atomic<std::uint32_t>* const address = flags_of(s);
  std::uint64_t seen = s.word.load(relaxed);
  while (!s.word.compare_exchange_strong(seen, change(seen) & ~(kLocked | kSleepers), acq_rel,
                                         relaxed)) {
  }
  if ((seen & kSleepers) != 0) futex_wake(address, INT_MAX);
}

inline void unlock(waitable& s) noexcept {
  unlock(s, [](std::uint64_t word) { return word; });
}

// Locked: what `waiting` must be.
inline std::uint64_t with_waiting(std::uint64_t word, bool waiting) noexcept {
  return waiting ? word | kWaiting : word & ~kWaiting;
}

// lockable::locker for a goroutine that is handed a lock and has not run yet. 0: for a plain thread it
// is not known.
inline std::uintptr_t stack_of(const waiter* w) noexcept {
  return w->g != nullptr ? reinterpret_cast<std::uintptr_t>(w->g->stack.lo) : 0;
}

// waiter::unlink, where leaving the queue concerns nobody else.
inline void unlink_waiter(void* object, waiter* w) noexcept {
  auto& s = *static_cast<waitable*>(object);
  lock(s);
  if (w->object != nullptr) rt::wait_queue::remove(s.waiters, w);
  unlock(s, [any = s.waiters.first != nullptr](std::uint64_t word) {
    return with_waiting(word, any);
  });
}

// The commit of every wait here.
inline bool unlock_after_switch(rt::G*, void* object) noexcept {
  unlock(*static_cast<waitable*>(object));
  return true;
}

// Calls Work(s, arg, M*) inside the runtime, from anywhere; M is null for a guest. If the runtime ends
// while a goroutine is on its way in, the ending thread calls Work in its place: an unlock() or
// release() that was called happens, and plain threads that wait for it go on.
using work_fn = bool (*)(waitable& s, std::uintptr_t arg, M* m) noexcept;
template <work_fn Work>
inline bool inside(waitable& s, std::uintptr_t arg = 0) noexcept {
  rt::G* const g = rt::this_goroutine();
  if (g == nullptr) return rt::inside([&s, arg](M*) { return Work(s, arg, nullptr); });  // is not abandoned
  waiter& mine = g->wait;
  mine.slot = reinterpret_cast<void*>(arg);
  mine.unlink = [](void* object, waiter* abandoned) noexcept {
    abandoned->object = nullptr;
    Work(*static_cast<waitable*>(object), reinterpret_cast<std::uintptr_t>(abandoned->slot),
         nullptr);
  };
  mine.object = &s;
  M* const m = rt::enter();
  mine.object = nullptr;
  const bool result = Work(s, arg, m);
  rt::leave(m);
  return result;
}

// The clock has won w, which its owner or the clock is about to take off its queue.
inline bool has_expired(const waiter* w) noexcept {
  return w->winner != nullptr && w->winner->load(relaxed) != 0;
}

// Waiters that are to be woken once the lock is free.
class wake_list {
 public:
  void add(waiter* w) noexcept {
    goroutines_ |= w->g != nullptr;
    rt::wait_queue::push_back(list_, w);
  }
  void wake_all(M* m, std::uintptr_t value) noexcept {
    while (waiter* const w = rt::wait_queue::pop_front(list_)) rt::wake(m, w, value);
  }
  bool has_goroutines() const noexcept { return goroutines_; }
  bool empty() const noexcept { return list_.first == nullptr; }

 private:
  wait_list list_;
  bool goroutines_ = false;
};

// A goroutine that has handed something over lets the new owner run: that one waits in ready_next, and
// nobody else can go on before it has run. User context.
inline void yield_to_new_owner(bool handed_over) noexcept {
  if (handed_over && rt::on_goroutine()) rt::yield_now();
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
