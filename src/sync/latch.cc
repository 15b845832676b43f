// latch: a count that goes down to zero once (sync/countdown.h).
//
// Who    any goroutine, any plain thread.

#include <vole/detail/left_behind.h>

#include "sync/countdown.h"
#include "sync/misuse.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr auto kWhy = rt::wait_reason::latch;

bool release_inside(waitable& s, std::uintptr_t, M* m) noexcept {
  lock(s);
  release_all_inside(s, m);
  return true;
}

}  // namespace

void latch_count_down_slow(waitable& s, std::uint64_t old, std::int64_t n) noexcept {
  if (n < 0 || n > left(old))
    misused("latch", "counted down by a negative number, or by more than is left", &s,
            "It is made with the number of all count_down() calls to come, and cannot be used twice: "
            "a barrier or a wait_group can");
  if ((old & kWaiting) != 0 && left(old) == n && n != 0) inside<&release_inside>(s);
  end_if_left_behind();
}

void latch_wait_slow(waitable& s) noexcept { wait_for_zero<kWhy>(s); }

bool latch_wait_unless(waitable& s, const context& ctx, std::error_code& error) noexcept {
  return wait_for_zero_unless<kWhy>(s, ctx, error);
}

void latch_expected() noexcept {
  misused("latch", "made with a number below 0 or above max()", nullptr,
          "It is the number of count_down() calls that it waits for");
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
