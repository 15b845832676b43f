// barrier: the count of the arrivals that are still missing, and one bit that says in which phase.
//
// Who    any goroutine, any plain thread.
// Law    arrivals change the count without the lock. The last one of a phase, when the completion
//        function has returned, takes everybody off the list and, with the store that frees the
//        lock, turns the phase and sets the count anew: its last touch of the object. Only then does
//        it wake them.
// Note   one bit will do: a token is of the current phase or of the one before it. Nobody can arrive
//        while the count is zero.
// Proof  tests/api/barrier_test.cc, tests/stress/barrier_stress_test.cc, under ASan and TSan.

#include <vole/detail/left_behind.h>

#include "sync/bounded.h"
#include "sync/misuse.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::uint64_t kPhase = barrier_flag::phase;

bool release_inside(waitable& object, std::uintptr_t, M* m) noexcept {
  auto& s = static_cast<barrier_waitable&>(object);
  wake_list go;
  lock(s);
  const auto expected = static_cast<std::uint64_t>(s.expected.load(relaxed));
  while (waiter* const w = rt::wait_queue::pop_claimed(s.waiters)) go.add(w);
  unlock(s, [expected](std::uint64_t word) {
    return ((word & wait_flag::all & ~kWaiting) ^ kPhase) | expected << wait_flag::count_shift;
  });
  go.wake_all(m, 0);
  return true;
}

struct end_of_phase : awaited {
  explicit end_of_phase(std::uint64_t which) noexcept : phase(which) {}
  static constexpr auto why = rt::wait_reason::barrier;
  bool take_locked(waitable& s) const noexcept {
    if ((s.word.load(acquire) & kPhase) != phase) return true;
    s.word.fetch_or(kWaiting, relaxed);
    return false;
  }
  std::uint64_t phase;
};

}  // namespace

void barrier_complete(barrier_waitable& s) noexcept {
  inside<&release_inside>(s);
  end_if_left_behind();
}

void barrier_wait_slow(waitable& s, std::uint64_t phase) noexcept {
  wait_for(end_of_phase(phase), s);
}

bool barrier_wait_unless(waitable& s, std::uint64_t phase, const context& ctx,
                         std::error_code& error) noexcept {
  return came_before(end_of_phase(phase), s, ctx, error);
}

void barrier_expected() noexcept {
  misused("barrier", "made with a number below 0 or above max()", nullptr,
          "It is the number of arrivals in each phase");
}
void barrier_overrun() noexcept {
  misused("barrier", "more arrivals than are expected in this phase", nullptr,
          "A party that arrives again must first wait for the end of the phase before: "
          "arrive_and_wait() does");
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
