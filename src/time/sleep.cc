// include/vole/time.h: sleeping.

#include <vole/time.h>

#include <cstddef>

#include <vole/context.h>
#include <vole/detail/waitable.h>

#include "os/os.h"
#include "sched/park.h"
#include "sched/wait/deadline.h"
#include "time/cancel.h"

namespace vole {
inline namespace v0 {
namespace detail {

static_assert(kNeverNs == rt::kNoTimer);

void sleep_until_ns(std::int64_t when) noexcept {
  rt::sleep_until_ns(when, rt::wait_reason::sleep);
}

// Without a second look at the clock: the deadline lies ahead.
void sleep_for_ns(std::int64_t ns) noexcept {
  if (!rt::on_goroutine()) return rt::sleep_thread(ns);
  rt::sleep_goroutine_until(later(os::now_ns(), ns), rt::wait_reason::sleep);
}

namespace {

// A waiter keeps its channel alive, so the context may go if the runtime ends meanwhile.
bool sleep_unless(std::int64_t when, const context& ctx, std::error_code& error) noexcept {
  error = ctx.err();
  if (error) return false;
  const cancel_node* const n = canceler_of(ctx);
  if (n == nullptr) {
    sleep_until_ns(when);
    return true;
  }
  std::byte nothing{};
  if (chan_recv_until(access::core(n->done), &nothing, when) != chan_status::closed) return true;
  error = n->error();
  return false;
}

}  // namespace
}  // namespace detail

bool sleep_until(detail::any_time_point t, const context& ctx, std::error_code& error) noexcept {
  return detail::sleep_unless(detail::to_ns(t), ctx, error);
}
bool sleep_for(detail::any_duration d, const context& ctx, std::error_code& error) noexcept {
  return detail::sleep_unless(detail::deadline_after(d), ctx, error);
}
void sleep_until(detail::any_time_point t, const context& ctx) {
  std::error_code error;
  if (!sleep_until(t, ctx, error)) detail::throw_wait_ended("vole::sleep_until", error);
}
void sleep_for(detail::any_duration d, const context& ctx) {
  std::error_code error;
  if (!sleep_for(d, ctx, error)) detail::throw_wait_ended("vole::sleep_for", error);
}

}  // namespace v0
}  // namespace vole
