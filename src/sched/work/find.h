// Finding work, in the order of [11]. What it is, nobody asks here (queue/runnable.h).
//
// Who    g0 only, holding a P (find may come back with another one).
#pragma once

#include <cstddef>

#include "gmp/g.h"
#include "gmp/m.h"
#include "gmp/p.h"

namespace vole::rt {

inline constexpr std::uint32_t kFairTick = 61;  // [9]

// The next one to run; sleeps until there is one. nullptr: the thread must end.
runnable* find_g0(M& m) noexcept;

// One helper per source; nullptr: nothing there.
runnable* find_fair_tick(P& p) noexcept;      // [9]
runnable* find_global(P& p) noexcept;         // a share [8]; the rest goes to the ring
runnable* find_stolen(M& m) noexcept;         // [13]-[16]

// Prefetches the memory of a goroutine that has waited for long and runs soon: all cache lines of its
// record but the first, each named by one of its fields (it goes on with its captures, and its end
// writes to all of them); and of its stack the frame it goes on with and the lines below, which the
// arrival uses. The goroutine may run elsewhere by now. (Always inline: gcc drops calls of functions
// that do nothing but prefetch.)
[[gnu::always_inline]] inline void prefetch(const G& g) noexcept {
  constexpr std::ptrdiff_t kLines = 2, kLinesBelow = 2;
  __builtin_prefetch(&g.wait, 1);
  __builtin_prefetch(&g.id, 1);
  __builtin_prefetch(&g.callable, 1);
  const auto* const frame = static_cast<const std::byte*>(g.sp.load(relaxed));
  if (frame == nullptr) return;
  for (std::ptrdiff_t line = -kLinesBelow; line < kLines; ++line)
    __builtin_prefetch(frame + line * 64, 1);
}

inline void bump_tick(P& p) noexcept {
  p.schedtick.store(p.schedtick.load(relaxed) + 1, relaxed);
}

inline bool is_fair_tick(const P& p) noexcept {
  return (p.schedtick.load(relaxed) + 1) % kFairTick == 0;
}

inline runnable* take_ready_next_owner(P& p) noexcept {
  runnable* const r = p.ready_next.load(relaxed);
  if (r != nullptr) p.ready_next.store(nullptr, relaxed);
  return r;
}

// The newest newborn, if there are many (docs/design/0012-newest-first.md); nullptr: the oldest's turn.
runnable* take_newest_owner(P& p) noexcept;

// runnext, then the ring; find_local takes ready_next before them. In the header, since the quick pick
// of every switch is this. A goroutine from ready_next or runnext inherits the slice: no tick.
inline runnable* take_next_owner(P& p) noexcept {
  if (runnable* next = p.runnext.load(relaxed)) {
    // Only thieves compete for it.
    if (p.runnext.compare_exchange_strong(next, nullptr, std::memory_order_acq_rel, relaxed))
      return next;
  }
  runnable* r = p.ring.newest_is_marked_owner() ? take_newest_owner(p) : nullptr;
  if (r == nullptr) r = p.ring.pop_owner();
  if (r != nullptr) bump_tick(p);
  return r;
}

inline runnable* find_local(P& p) noexcept {
  runnable* const r = take_ready_next_owner(p);
  return r != nullptr ? r : take_next_owner(p);
}

}  // namespace vole::rt
