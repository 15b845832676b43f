// wait_group: a count, and waiters until it is zero (sync/countdown.h), round after round.
//
// Who    any goroutine, any plain thread.

#include <vole/detail/left_behind.h>

#include "sync/countdown.h"
#include "sync/misuse.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr auto kWhy = rt::wait_reason::wait_group;

[[noreturn]] void reused(const waitable& s) noexcept {
  misused("wait_group", "add() while waiters of the round before are still being released", &s,
          "Begin the next round after every wait() has returned");
}

bool release_inside(waitable& s, std::uintptr_t, M* m) noexcept {
  lock(s);
  if (left(s.word.load(relaxed)) != 0) reused(s);
  release_all_inside(s, m);
  return true;
}

}  // namespace

void wait_group_add_slow(waitable& s, std::uint64_t old, std::int32_t n) noexcept {
  const std::int64_t now = std::int64_t{left(old)} + n;
  if (now < 0)
    misused("wait_group", "negative count (more done() than add())", &s,
            "Call add() before the goroutine starts, and done() once in it; go() of the wait_group "
            "does both");
  if (now > INT_MAX)
    misused("wait_group", "count overflow (above 2147483647)", &s, "Is add() called in a loop?");
  if ((old & kWaiting) == 0) return end_if_left_behind();
  if (left(old) == 0) reused(s);
  if (now == 0) inside<&release_inside>(s);
  end_if_left_behind();
}

void wait_group_wait_slow(waitable& s) noexcept { wait_for_zero<kWhy>(s); }

bool wait_group_wait_unless(waitable& s, const context& ctx, std::error_code& error) noexcept {
  return wait_for_zero_unless<kWhy>(s, ctx, error);
}

void wait_group_destroyed() noexcept {
  misused("wait_group", "destroyed while its count is not zero or somebody waits", nullptr,
          "Call wait() before it goes out of scope");
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
