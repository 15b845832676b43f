#include "base/lock_order.h"

#ifdef VOLE_CHECKED

#include "base/fatal.h"

namespace vole::base::lock_order {
namespace {

constexpr int kDeepest = 16;

struct held_ranks {
  int count = 0;                  // different ranks
  lock_rank rank[kDeepest] = {};  // growing
  int times[kDeepest] = {};       // how many locks of that rank
};

// noinline: a caller must not keep this address across a switch to another thread.
[[gnu::noinline]] held_ranks& mine() noexcept {
  static thread_local constinit held_ranks held;
  asm volatile("");  // keeps the call from being folded away
  return held;
}

}  // namespace

void taking(lock_rank r) noexcept {
  held_ranks& held = mine();
  if (held.count > 0 && held.rank[held.count - 1] >= r) {
    broken(sentence() << "lock: rank " << static_cast<int>(r) << " taken while holding rank "
                      << static_cast<int>(held.rank[held.count - 1]));
  }
  took(r);
}

void took(lock_rank r) noexcept {
  held_ranks& held = mine();
  for (int i = 0; i < held.count; ++i) {
    if (held.rank[i] != r) continue;
    ++held.times[i];
    return;
  }
  if (held.count == kDeepest) broken("lock: locks of more than 16 ranks held by one thread");
  // Kept sorted, so that the last one is the highest whatever the order of releases.
  int i = held.count++;
  for (; i > 0 && held.rank[i - 1] > r; --i) {
    held.rank[i] = held.rank[i - 1];
    held.times[i] = held.times[i - 1];
  }
  held.rank[i] = r;
  held.times[i] = 1;
}

void releasing(lock_rank r) noexcept {
  held_ranks& held = mine();
  for (int i = held.count - 1; i >= 0; --i) {
    if (held.rank[i] != r) continue;
    if (--held.times[i] != 0) return;
    for (; i + 1 < held.count; ++i) {
      held.rank[i] = held.rank[i + 1];
      held.times[i] = held.times[i + 1];
    }
    --held.count;
    return;
  }
  broken(sentence() << "lock: rank " << static_cast<int>(r)
                    << " released but not held by this thread");
}

bool holds_any() noexcept { return mine().count > 0; }

}  // namespace vole::base::lock_order

#endif
