// context: deadlines, cancellation and values that belong to one task, handed down its calls.
//
//     auto [ctx, cancel] = vole::with_timeout(parent, 5s);
//     vole::go([ctx = ctx] { ... vole::select(vole::on_recv(jobs, job), vole::on_done(ctx)) ... });
//
// (clang before 16 cannot capture the names of a structured binding: hence [ctx = ctx].)
//
// A context is a reference: copies are cheap and mean the same one. Cancelling one cancels all that
// were derived from it. Any thread may use one; without a deadline or after_func() none of this
// needs a runtime. One with a deadline that outlives the runtime no longer ends by itself.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include <vole/chan.h>
#include <vole/detail/access.h>
#include <vole/detail/context_node.h>
#include <vole/detail/deferred.h>
#include <vole/detail/left_behind.h>
#include <vole/detail/time.h>
#include <vole/errors.h>
#include <vole/select.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {
class kept_context;
}

// Names a value of type T. Its address is its identity: inline constexpr context_key<int> key{"x"};
template <class T>
class context_key {
 public:
  using value_type = T;
  explicit constexpr context_key(const char* name) noexcept : name_(name) {}
  context_key(const context_key&) = delete;
  context_key& operator=(const context_key&) = delete;
  // As it was given, for messages.
  constexpr const char* name() const noexcept { return name_; }

 private:
  const char* name_;
};

class [[nodiscard]] context {
 public:
  // Never cancelled, no deadline, no values. A context that was moved from is one, too.
  static context background() noexcept { return context(); }
  context() noexcept = default;
  context(const context& other) noexcept : node_(detail::share_context(other.node_)) {}
  context(context&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  context& operator=(const context& other) noexcept {
    detail::drop_context(std::exchange(node_, detail::share_context(other.node_)));
    return *this;
  }
  context& operator=(context&& other) noexcept {
    detail::drop_context(std::exchange(node_, std::exchange(other.node_, nullptr)));
    return *this;
  }
  ~context() { detail::drop_context(node_); }
  // with_timeout(parent, 5s).ctx has been cancelled when the line is over, with its cancel_function.
  template <std::same_as<const detail::kept_context> C>
  context(C&& its_cancel_function_is_gone) = delete;
  template <std::same_as<const detail::kept_context> C>
  context& operator=(C&& its_cancel_function_is_gone) = delete;
  friend bool operator==(const context&, const context&) noexcept = default;  // identity

  // A channel that is closed when the context is cancelled. Nil if that can never be.
  recv_chan<> done() const noexcept;
  // No error while it is not cancelled; then errc::canceled or errc::deadline_exceeded, for ever.
  std::error_code err() const noexcept;
  // The exception that cancel() was given; without one, err() as a std::system_error. Null while not
  // cancelled.
  std::exception_ptr cause() const;
  std::optional<time_point> deadline() const noexcept;
  // The innermost value of that key; it lives as long as this context. nullptr: there is none.
  template <class T>
  const T* value(const context_key<T>& key) const noexcept {
    return static_cast<const T*>(detail::find_value(node_, &key));
  }
  // Stop is requested after done is closed, where cancel() was called or, for a deadline, on a
  // goroutine of vole's: there the callbacks run.
  std::stop_token stop_token() const;

 private:
  friend struct detail::access;
  explicit context(detail::context_node* owned) noexcept : node_(owned) {}
  detail::context_node* node_ = nullptr;
};

// Cancels a context. Move-only; destroying it cancels.
class [[nodiscard]] cancel_function {
 public:
  cancel_function() noexcept = default;
  cancel_function(cancel_function&&) noexcept = default;
  cancel_function& operator=(cancel_function&& other) noexcept {
    if (this != &other) {
      end(nullptr);
      ctx_ = std::move(other.ctx_);
    }
    return *this;
  }
  ~cancel_function() { end(nullptr); }

  // When it returns, done is closed and everything below is cancelled, or another call is just
  // doing that. Only the first one counts. Does not wait for anybody.
  void operator()() const { (*this)(nullptr); }
  void operator()(std::exception_ptr cause) const {
    end(std::move(cause));
    detail::end_if_left_behind();
  }

 private:
  friend struct detail::access;
  explicit cancel_function(context ctx) noexcept : ctx_(std::move(ctx)) {}
  void end(std::exception_ptr cause) const;

  context ctx_;
};

// A context and the function that cancels it.
//
//     auto [ctx, cancel] = vole::with_timeout(parent, 5s);
//     vole::cancelable c = vole::with_timeout(parent, 5s);  // c.ctx, c.cancel
//
// Not auto ctx = vole::with_timeout(parent, 5s).ctx: its cancel_function would be gone at the
// semicolon, and so that does not compile, nor does anything that keeps such a context: go(), group,
// with_value(), another with_timeout(), after_func(). A call that ends with the line may have it:
// c.recv(vole::with_timeout(parent, 1s).ctx).
//
// auto c = vole::with_timeout(parent, 5s) serves as well, only that its context cannot be moved away:
// it would look like that of a temporary. Copy it.
struct [[nodiscard]] cancelable {
  context ctx;
  cancel_function cancel;
};

namespace detail {

// The context in what with_timeout() and the like return, and a context in all it does. It is
// constant there, though it can be assigned to, so that it can be copied out of a result that has a
// name, and not out of one that is about to go, and cancels it.
class kept_context {
 public:
  kept_context() noexcept = default;
  explicit kept_context(context c) noexcept : ctx_(std::move(c)) {}
  kept_context(const kept_context&) noexcept = default;
  kept_context(kept_context&&) noexcept = default;
  kept_context(const kept_context&& its_cancel_function_is_gone) = delete;
  ~kept_context() = default;
  kept_context& operator=(const kept_context&) noexcept = default;
  kept_context& operator=(kept_context&&) noexcept = default;
  const kept_context& operator=(const context& c) const noexcept {
    ctx_ = c;
    return *this;
  }
  const kept_context& operator=(const kept_context&& its_cancel_function_is_gone) const = delete;
  operator const context&() const& noexcept { return ctx_; }
  friend bool operator==(const kept_context& a, const kept_context& b) noexcept {
    return a.ctx_ == b.ctx_;
  }

  recv_chan<> done() const noexcept { return ctx_.done(); }
  std::error_code err() const noexcept { return ctx_.err(); }
  std::exception_ptr cause() const { return ctx_.cause(); }
  std::optional<time_point> deadline() const noexcept { return ctx_.deadline(); }
  template <class T>
  const T* value(const context_key<T>& key) const noexcept {
    return ctx_.value(key);
  }
  std::stop_token stop_token() const { return ctx_.stop_token(); }

 private:
  friend struct new_cancelable;
  mutable context ctx_;
};

// The result of with_timeout() and the like. It converts to a cancelable, and two names can be bound to
// it: a context and a cancel_function.
struct [[nodiscard]] new_cancelable {
  new_cancelable(context c, cancel_function f) noexcept : ctx(std::move(c)), cancel(std::move(f)) {}
  new_cancelable(new_cancelable&& other) noexcept
      : ctx(other.ctx.ctx_), cancel(std::move(other.cancel)) {}
  new_cancelable& operator=(new_cancelable&& other) noexcept {
    if (this == &other) return *this;
    ctx = other.ctx.ctx_;
    cancel = std::move(other.cancel);
    return *this;
  }
  ~new_cancelable() = default;
  operator cancelable() && noexcept { return {std::move(ctx.ctx_), std::move(cancel)}; }

  template <std::size_t I>
  decltype(auto) get() & noexcept {
    if constexpr (I == 0) {
      return static_cast<context&>(ctx.ctx_);
    } else {
      return static_cast<cancel_function&>(cancel);
    }
  }
  template <std::size_t I>
  decltype(auto) get() const& noexcept {
    if constexpr (I == 0) {
      return static_cast<const context&>(ctx.ctx_);
    } else {
      return static_cast<const cancel_function&>(cancel);
    }
  }
  template <std::size_t I>
  decltype(auto) get() && noexcept {
    if constexpr (I == 0) {
      return static_cast<context&&>(ctx.ctx_);
    } else {
      return static_cast<cancel_function&&>(cancel);
    }
  }

  const kept_context ctx;
  cancel_function cancel;
};

// with_timeout(parent, 5s).ctx: alive to the end of the line.
template <class C>
concept dying_context = std::same_as<C, const kept_context>;

}  // namespace detail

namespace detail {
new_cancelable derive(const context& parent, std::int64_t when, std::exception_ptr cause = nullptr);
class watch_node;
watch_node* watch(const context& ctx, deferred_ptr fn, bool is_awaited = false);
bool stop_watch(const context& ctx, watch_node* w);
void end_watch(const context& ctx, watch_node* w);  // stops it, or waits for its end
void drop_watch(watch_node* w) noexcept;
}  // namespace detail

// A child of the context that ends with it, or when it is cancelled itself.
[[nodiscard]] inline detail::new_cancelable with_cancel(const context& parent) {
  return detail::derive(parent, detail::kNeverNs);
}
// The earlier one of this deadline and the parent's counts. time_point::max(): none. The cause: what
// cause() is if this deadline ends it.
[[nodiscard]] inline detail::new_cancelable with_deadline(const context& parent,
                                                          detail::any_time_point t,
                                                          std::exception_ptr cause = nullptr) {
  return detail::derive(parent, detail::to_ns(t), std::move(cause));
}
[[nodiscard]] inline detail::new_cancelable with_timeout(const context& parent,
                                                         detail::any_duration d,
                                                         std::exception_ptr cause = nullptr) {
  return detail::derive(parent, detail::deadline_after(d), std::move(cause));
}
// Cancelled as well when stop is requested there; that is, done is closed when request_stop()
// returns.
[[nodiscard]] detail::new_cancelable with_stop_token(const context& parent, std::stop_token token);

// A child that has the value for that key, beside its parent's.
template <class T>
[[nodiscard]] context with_value(const context& parent, const context_key<T>& key,
                                 std::type_identity_t<T> value) {
  detail::end_if_left_behind();
  return detail::access::make<context>(
      new detail::typed_value<T>(detail::access::node(parent), &key, std::move(value)));
}
template <class T>
context with_value(const context& parent, const context_key<T>&& key,
                   std::type_identity_t<T> value) = delete;  // a key that is gone afterwards

// Cancelled at birth: they do not compile.
template <detail::dying_context C>
void with_cancel(C&& its_cancel_function_is_gone) = delete;
template <detail::dying_context C, class... More>
void with_deadline(C&& its_cancel_function_is_gone, More&&...) = delete;
template <detail::dying_context C, class... More>
void with_timeout(C&& its_cancel_function_is_gone, More&&...) = delete;
template <detail::dying_context C>
void with_stop_token(C&& its_cancel_function_is_gone, std::stop_token) = delete;
template <detail::dying_context C, class T, class Value>
void with_value(C&& its_cancel_function_is_gone, const context_key<T>&, Value&&) = delete;

// The parent's values, but not its cancellation and deadline.
[[nodiscard]] context without_cancel(const context& parent);

// The other end of after_func(ctx, fn). Destroying it does not stop it.
class func_watch {
 public:
  func_watch() noexcept = default;
  func_watch(func_watch&& other) noexcept
      : ctx_(std::move(other.ctx_)), node_(std::exchange(other.node_, nullptr)) {}
  func_watch& operator=(func_watch&& other) noexcept {
    detail::drop_watch(std::exchange(node_, std::exchange(other.node_, nullptr)));
    ctx_ = std::move(other.ctx_);
    return *this;
  }
  ~func_watch() { detail::drop_watch(node_); }

  // True: fn will not run (and is destroyed now). False: it was stopped before, or it has been
  // started, and may be about to run or run.
  bool stop() {
    const bool stopped = detail::stop_watch(ctx_, node_);
    detail::end_if_left_behind();
    return stopped;
  }

 private:
  friend struct detail::access;
  func_watch(context ctx, detail::watch_node* owned) noexcept
      : ctx_(std::move(ctx)), node_(owned) {}

  context ctx_;
  detail::watch_node* node_ = nullptr;
};

// Calls fn when ctx is cancelled, in a goroutine of its own; at once if it is already. An exception
// that leaves fn ends the program.
template <detail::deferrable F>
func_watch after_func(const context& ctx, F&& fn) {
  return detail::access::make<func_watch>(ctx, detail::watch(ctx, detail::defer(std::forward<F>(fn))));
}
template <detail::dying_context C, class F>
func_watch after_func(C&& its_cancel_function_is_gone, F&& fn) = delete;

// after_func for a scope, as std::stop_callback is for a stop_token: when it is destroyed fn has been
// taken back, or has run and is gone. So fn may refer to what was there before the context_callback.
//
//     vole::context_callback unblock(ctx, [&c] { c.set_deadline(vole::time_point::min()); });
//     c.read(...);
//
// Destroying it waits for an fn that runs, unless fn does so itself: then it goes on. An fn that waited
// when the runtime ended is over; one that computes on is waited for. An exception that leaves fn
// ends the program. The function is started where it would be by after_func(ctx, fn): in a
// goroutine of its own.
class [[nodiscard]] context_callback {
 public:
  template <detail::deferrable F>
  context_callback(const context& ctx, F&& fn)
      : ctx_(ctx), node_(detail::watch(ctx, detail::defer(std::forward<F>(fn)), true)) {}
  template <detail::dying_context C, class F>
  context_callback(C&& its_cancel_function_is_gone, F&& fn) = delete;
  context_callback(const context_callback&) = delete;
  context_callback& operator=(const context_callback&) = delete;
  ~context_callback() { detail::end_watch(ctx_, node_); }

 private:
  const context ctx_;
  detail::watch_node* const node_;
};

// A select clause: taken when ctx is cancelled.
template <class Fn = detail::no_handler>
  requires std::invocable<Fn>
[[nodiscard]] auto on_done(const context& ctx, Fn&& fn = {}) {
  return detail::recv_clause<std::monostate, Fn&&>(detail::access::core(ctx.done()),
                                                        std::forward<Fn>(fn));
}

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop

template <>
struct std::tuple_size<vole::detail::new_cancelable> : std::integral_constant<std::size_t, 2> {};
template <>
struct std::tuple_element<0, vole::detail::new_cancelable> {
  using type = vole::context;
};
template <>
struct std::tuple_element<1, vole::detail::new_cancelable> {
  using type = vole::cancel_function;
};

template <>
struct std::hash<vole::context> {
  std::size_t operator()(const vole::context& c) const noexcept {
    return std::hash<void*>{}(vole::detail::access::node(c));
  }
};
