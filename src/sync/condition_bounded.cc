// condition_variable: a wait that a context may end.
//
// Law    as in condition_variable.cc: a waiter is claimed by a notify or by the context. One that the
//        context has claimed stays in the queue until the context has taken it off; the destructor
//        waits for that.

#include "sync/bounded.h"
#include "sync/condition.h"

namespace vole {
inline namespace v0 {
namespace detail {
bool condition_wait_unless(waitable& s, waitable& held_mutex, const context& ctx,
                           std::error_code& error) noexcept {
  return came_before(notice(held_mutex, nullptr), s, ctx, error);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
