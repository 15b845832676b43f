// include/vole/signal.h: a context that a signal cancels. The registrations are in api/signal.cc.

#include <vole/signal.h>

#include <utility>

#include "time/cancel.h"

namespace vole {
inline namespace v0 {

detail::new_cancelable signal_context(const context& parent, std::span<const int> signals) {
  detail::new_cancelable made = with_cancel(parent);
  detail::cancel_node& n = *detail::canceler_of(made.ctx);
  n.listener.store(detail::listen_to_signals(made.ctx, signals), base::release);
  return made;
}

namespace detail {

void cancel_by_signal(const context& ctx, int number) {
  cancel_on_service_thread(*canceler_of(ctx), std::make_exception_ptr(signal_received(number)));
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
