// include/vole/context.h: contexts that are derived from others, and what they say.

#include <vole/context.h>
#include <vole/signal.h>

#include <memory>

#include <vole/detail/left_behind.h>

#include "base/lock.h"
#include "os/os.h"
#include "time/cancel.h"
#include "time/detached_call.h"

namespace vole {
inline namespace v0 {
namespace {

using namespace base;
using detail::access;
using detail::cancel_node;
using detail::canceler_of;

// A new context under parent, cancelled at once if that one is.
detail::new_cancelable make(const context& parent, std::int64_t when, void* site,
                            cancel_node*& n) {
  n = new cancel_node(access::node(parent), when, site, chan<>());
  const context ctx = access::make<context>(n);
  detail::new_cancelable made(ctx, access::make<cancel_function>(ctx));
  if (n->above == nullptr) return made;
  detail::share_context(n);
  if (!detail::adopt(*n->above, *n)) {
    detail::drop_context(n);
    detail::cancel(*n, n->above->why, n->above->cause);
  }
  return made;
}

}  // namespace

namespace detail {

new_cancelable derive(const context& parent, std::int64_t when, std::exception_ptr cause) {
  cancel_node* n;
  new_cancelable made = make(parent, when, __builtin_return_address(0), n);
  if (!n->own_deadline) return made;
  n->late = std::move(cause);
  if (when <= os::now_ns()) {
    cancel(*n, errc::deadline_exceeded, n->late);
  } else {
    start_clock(*n);
  }
  return made;
}

}  // namespace detail

detail::new_cancelable with_stop_token(const context& parent, std::stop_token token) {
  cancel_node* n;
  detail::new_cancelable made = make(parent, detail::kNeverNs, __builtin_return_address(0), n);
  if (token.stop_possible()) detail::ask(*n, std::move(token));
  return made;
}

context without_cancel(const context& parent) {
  detail::end_if_left_behind();
  if (canceler_of(parent) == nullptr) return parent;
  auto* const n = new detail::context_node(access::node(parent));
  n->canceler = nullptr;
  return access::make<context>(n);
}

recv_chan<> context::done() const noexcept {
  detail::end_if_left_behind();
  const cancel_node* const n = canceler_of(*this);
  return n != nullptr ? recv_chan<>(n->done) : nullptr;
}

std::error_code context::err() const noexcept {
  detail::end_if_left_behind();
  const cancel_node* const n = canceler_of(*this);
  return n != nullptr ? n->error() : std::error_code();
}

std::exception_ptr context::cause() const {
  const std::error_code e = err();
  if (!e) return nullptr;
  const std::exception_ptr& given = canceler_of(*this)->cause;
  return given != nullptr ? given : std::make_exception_ptr(std::system_error(e, "vole::context"));
}

std::optional<time_point> context::deadline() const noexcept {
  detail::end_if_left_behind();
  const cancel_node* const n = canceler_of(*this);
  if (n == nullptr || n->deadline == detail::kNeverNs) return std::nullopt;
  return detail::from_ns(n->deadline);
}

std::stop_token context::stop_token() const {
  cancel_node* const n = canceler_of(*this);
  if (n == nullptr) return {};
  std::stop_source fresh;  // made before we are inside, where nothing is allocated
  std::stop_source used(std::nostopstate);
  bool cancelled = false;
  rt::inside([&](rt::M*) noexcept {
    holding hold(n->lock);
    race::acquire(&n->source);
    if (!n->source.stop_possible()) n->source.swap(fresh);
    used = n->source;
    race::release(&n->source);
    cancelled = n->now.load(relaxed) != cancel_node::live;
  });
  if (cancelled) detail::stop(used);
  return used.get_token();
}

void cancel_function::end(std::exception_ptr cause) const {
  cancel_node* const n = canceler_of(ctx_);
  if (n == nullptr) return;
  if (n->listener.load(relaxed) != nullptr)
    if (detail::signal_listener* const l = n->listener.exchange(nullptr, acq_rel))
      detail::end_listening(l);
  detail::cancel(*n, errc::canceled, cause);
}

}  // namespace v0
}  // namespace vole
