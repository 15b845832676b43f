// The local queue in short, with one fault to choose: mutants for its model.
//
// Who    local_queue_model.cc.
// Law    with fault::none it does what queue/local_queue.h does.
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "queue/runnable.h"

namespace {

enum class fault {
  none, publishes_first, claims_first, never_full, publishes_all, forgets_rest, pops_unclaimed,
  turns_uncounted, hides_late, hides_relaxed, stays_hidden
};

template <std::uint32_t Capacity, fault F>
class faulty_queue {
  using runnable = vole::rt::runnable;

 public:
  static constexpr std::uint32_t kCapacity = Capacity, kHalf = Capacity / 2;

  bool push_owner(runnable* g) noexcept {
    const std::uint32_t back = back_.load(relaxed);
    const std::uint32_t front = index(front_.load(acquire));
    if (F != fault::never_full && back - front >= kCapacity) return false;
    if (F == fault::publishes_first) back_.store(back + 1, release);
    slots_[back % kCapacity].store(g, relaxed);
    if (F != fault::publishes_first) back_.store(back + 1, release);
    return true;
  }

  bool push_newest_owner(runnable* g) noexcept { return push_owner(g); }

  struct half_push {
    vole::base::atomic<std::uint32_t>* word;
    std::uint32_t back;
  };
  half_push begin_push_owner(runnable* g) noexcept {
    const std::uint32_t back = back_.load(relaxed);
    slots_[back % kCapacity].store(g, relaxed);
    if (F == fault::publishes_first) back_.store(back + 1, release);
    return {&back_, back + 1};
  }

  runnable* pop_newest_owner(std::uint32_t others) noexcept {
    const std::uint32_t back = back_.load(relaxed);
    std::uint64_t front = front_.load(acquire);
    while (back - index(front) > others) {
      runnable* const g = slots_[(back - 1) % kCapacity].load(relaxed);
      if (F != fault::hides_late) back_.store(back - 1, F == fault::hides_relaxed ? relaxed : release);
      const bool mine = claim(front, F == fault::turns_uncounted ? 0 : kTurn);
      if (mine && F == fault::hides_late) back_.store(back - 1, relaxed);
      if (mine) return g;
      if (F != fault::stays_hidden) back_.store(back, release);
    }
    return nullptr;
  }

  runnable* pop_owner() noexcept {
    std::uint64_t front = front_.load(acquire);
    for (;;) {
      const std::uint32_t back = back_.load(relaxed);
      if (index(front) == back) return nullptr;
      if (F == fault::pops_unclaimed) {
        back_.store(back - 1, release);
        return slots_[(back - 1) % kCapacity].load(relaxed);
      }
      runnable* g = slots_[front % kCapacity].load(relaxed);
      if (claim(front, 1)) return g;
    }
  }

  bool spill_half_owner(runnable* (&half)[kHalf]) noexcept {
    std::uint64_t front = front_.load(acquire);
    if (back_.load(relaxed) - index(front) < kCapacity) return false;
    for (std::uint32_t i = 0; i < kHalf; ++i)
      half[i] = slots_[(front + i) % kCapacity].load(relaxed);
    return claim(front, kHalf);
  }

  runnable* steal_half_owner(faulty_queue& victim) noexcept {
    const std::uint32_t back = back_.load(relaxed);
    const std::uint32_t taken = victim.grab(*this, back);
    if (taken == 0) return nullptr;
    runnable* g = slots_[(back + taken - 1) % kCapacity].load(relaxed);
    const std::uint32_t shown = F == fault::publishes_all  ? taken
                                : F == fault::forgets_rest ? 0
                                                           : taken - 1;
    if (shown > 0) back_.store(back + shown, release);
    return g;
  }

 private:
  static constexpr std::memory_order relaxed = std::memory_order_relaxed;
  static constexpr std::memory_order acquire = std::memory_order_acquire;
  static constexpr std::memory_order release = std::memory_order_release;

  std::uint32_t grab(faulty_queue& to, std::uint32_t to_back) noexcept {
    for (;;) {
      std::uint64_t front = front_.load(acquire);
      const std::uint32_t between = back_.load(acquire) - index(front);
      const std::uint32_t available = static_cast<std::int32_t>(between) > 0 ? between : 0;
      const std::uint32_t n = available - available / 2;
      if (n == 0) return 0;
      if (n > kHalf) continue;
      const std::uint64_t from = front;
      if (F == fault::claims_first && !claim(front, n)) continue;
      for (std::uint32_t i = 0; i < n; ++i)
        to.slots_[(to_back + i) % kCapacity].store(slots_[(from + i) % kCapacity].load(relaxed),
                                                   relaxed);
      if (F == fault::claims_first || claim(front, n)) return n;
    }
  }

  static std::uint32_t index(std::uint64_t front) noexcept { return static_cast<std::uint32_t>(front); }

  bool claim(std::uint64_t& front, std::uint64_t n) noexcept {
    return front_.compare_exchange_strong(front, front + n, std::memory_order_acq_rel, acquire);
  }

  static constexpr std::uint64_t kTurn = std::uint64_t{1} << 32;

  vole::base::atomic<std::uint64_t> front_{0};
  vole::base::atomic<std::uint32_t> back_{0};
  vole::base::atomic<runnable*> slots_[Capacity] = {};
};

}  // namespace
