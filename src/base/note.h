// A note: a one-shot event that one thread sleeps on and one thread wakes [20].
//
// Who    sleep, sleep_for, clear: the one sleeper. wake: exactly one waker per
//        round; a second one is a broken invariant.
// Law    word_: 0 not yet, 1 woken. Only the sleeper goes back to 0.
// Note   after wake's exchange the sleeper may have returned and destroyed the
//        note; the futex call uses its address only.
// Proof  tests/model/note_model.cc
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "base/fatal.h"
#include "base/system.h"

namespace vole::base {

class note {
 public:
  constexpr note() noexcept = default;
  note(const note&) = delete;
  note& operator=(const note&) = delete;

  void wake() noexcept {
    if (word_.exchange(1, std::memory_order_release) != 0)  // pairs: sleep
      broken("note: woken twice");
    futex_wake(&word_, 1);
  }

  void sleep() noexcept {
    while (word_.load(std::memory_order_acquire) == 0) futex_wait(&word_, 0);  // pairs: wake
  }

  // False: `ns` nanoseconds passed without a wake.
  bool sleep_for(std::int64_t ns) noexcept {
    if (word_.load(std::memory_order_acquire) == 0) futex_wait_for(&word_, 0, ns);
    return word_.load(std::memory_order_acquire) != 0;
  }

  void clear() noexcept { word_.store(0, relaxed); }

 private:
  atomic<std::uint32_t> word_{0};
};

}  // namespace vole::base
