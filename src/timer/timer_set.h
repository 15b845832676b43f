// A P's timers and sleepers: a heap under a lock, and what others may read of it without the lock.
//
// Who    add: the M that holds the P; a thread without a P uses timer_set 0. stop: any thread.
//        add_sleeper: the M that holds the P, for a goroutine whose context is saved.
//        take_due: the M that fires: the P's own, or a thief.
// Where  in the runtime; takes lock_rank::timer.
// Law    a timer is touched by nobody else after stop has returned, or after its fire
//        function has run. `firing_` is the timer whose function runs: stop waits for it, so stop
//        must not be called under a lock that the function takes.
// Law    a fire function that adds its timer again does so with add_again, on the same timer_set:
//        `home` of a timer changes only while nobody can stop it, or under both guards (adopt).
// Law    one thread at a time fires from a timer_set (begin_firing). Another that comes meanwhile goes
//        on without firing: `first` still says that something is due.
// Note   timer_sets are static: a timer that has fired keeps its `home`, which must be a timer_set
//        in the next runtime too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.h"
#include "base/lock.h"
#include "timer/heap.h"

namespace vole::rt {

inline constexpr std::int64_t kNoTimer = INT64_MAX;

class alignas(64) timer_set {
 public:
  constexpr timer_set() noexcept = default;

  // When the first one is due; kNoTimer: none stands here. As a hint, or in the one order of
  // seq_cst for an M that is about to sleep.
  std::int64_t first() const noexcept { return first_.load(seq_cst); }

  enum class added : std::uint8_t { refused, behind, in_front };
  // `t` is in no timer_set.
  added add(timer* t, std::int64_t when) noexcept {
    holding hold(guard_);
    t->when = when;
    t->home.store(this, relaxed);
    return heap_.push(t) ? placed_locked(when) : added::refused;
  }
  // A goroutine that waits for nothing but the time.
  added add_sleeper(G* g, std::int64_t when) noexcept {
    holding hold(guard_);
    return heap_.push_sleeper(g, when) ? placed_locked(when) : added::refused;
  }

  // Called by t's own fire function, on the timer_set that fires it. On any other one, a stop that
  // comes now would look for t here, with a place that belongs to another heap.
  static added add_again(timer* t, std::int64_t when) noexcept {
    return t->home.load(relaxed)->add(t, when);
  }

  // Its function runs now.
  static bool is_firing(const timer* t) noexcept {
    const timer_set* const home = t->home.load(relaxed);
    return home != nullptr && home->firing_.load(relaxed) == t;
  }

  // True: it will not fire.
  static bool stop(timer* t, void (*wait_a_little)() noexcept) noexcept {
    bool stopped = false;
    for (;;) {
      timer_set* const home = t->home.load(std::memory_order_acquire);  // pairs: adopt
      if (home == nullptr) return false;
      home->guard_.acquire();
      const bool moved = t->home.load(relaxed) != home;
      const bool pending = !moved && t->place != timer::kNowhere;
      if (pending) {
        stopped = true;
        home->heap_.remove(t);
        home->see_first_locked();
      }
      // Looked at under the lock: a function that runs now may add it again before it has run.
      const bool runs = home->firing_.load(std::memory_order_acquire) == t;  // pairs: fired
      home->guard_.release();
      if (moved) continue;
      if (!runs) return stopped;
      while (home->firing_.load(std::memory_order_acquire) == t) wait_a_little();
    }
  }

  // False: another thread fires from this timer_set.
  bool begin_firing() noexcept { return !busy_.exchange(true, std::memory_order_acquire); }
  void end_firing() noexcept { busy_.store(false, std::memory_order_release); }

  // Between begin_firing and end_firing. Some sleepers that are due, and perhaps a timer after them;
  // neither: nothing is. After the timer's function: fired().
  timer* take_due(std::int64_t now, risen& up) noexcept {
    holding hold(guard_);
    timer* const t = heap_.pop_due(now, up);
    rising_ = up.n;
    if (t == nullptr && up.n == 0) return nullptr;
    see_first_locked();
    if (t != nullptr) firing_.store(t, relaxed);
    return t;
  }
  void fired() noexcept { firing_.store(nullptr, std::memory_order_release); }  // pairs: stop

  // How many will fire, those that are taken last included.
  std::size_t pending() noexcept {
    holding hold(guard_);
    return heap_.size() + rising_ + (firing_.load(relaxed) != nullptr ? 1 : 0);
  }

  // Takes over what stands on a dead P's timer_set [33]; a stop meanwhile finds it here or there.
  // False: the kernel refused memory. One at a time.
  bool adopt(timer_set& dead) noexcept {
    bool kept = true;
    dead.guard_.acquire();
    guard_.acquire_next_of_kind();
    dead.heap_.clear(
        [&](timer* t) VOLE_UNCHECKED {
          t->home.store(this, std::memory_order_release);  // pairs: stop
          kept &= heap_.push(t);
        },
        [&](G* g, std::int64_t when) VOLE_UNCHECKED { kept &= heap_.push_sleeper(g, when); });
    dead.see_first_locked();
    see_first_locked();
    guard_.release();
    dead.guard_.release();
    return kept;
  }

  // Everything off; shows each timer to `each`. The runtime has ended.
  template <class F>
  void clear(F each) noexcept {
    holding hold(guard_);
    heap_.clear(each, [](G*, std::int64_t) {});
    first_.store(kNoTimer, seq_cst);
  }

 private:
  added placed_locked(std::int64_t when) noexcept VOLE_REQUIRES(guard_) {
    if (when >= first_.load(relaxed)) return added::behind;
    first_.store(when, seq_cst);
    return added::in_front;
  }
  void see_first_locked() noexcept VOLE_REQUIRES(guard_) {
    const std::int64_t when = heap_.empty() ? kNoTimer : heap_.first_when();
    if (when != first_.load(relaxed)) first_.store(when, seq_cst);
  }

  lock<lock_rank::timer> guard_;
  atomic<std::int64_t> first_{kNoTimer};     // written under guard_
  timer_heap heap_ VOLE_GUARDED_BY(guard_);
  std::size_t rising_ VOLE_GUARDED_BY(guard_) = 0;  // sleepers taken last
  alignas(64) atomic<timer*> firing_{nullptr};
  atomic<bool> busy_{false};
};

}  // namespace vole::rt
