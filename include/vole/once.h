// once: something that is done once. once_value: something that is computed once.
#pragma once

#include <cxxabi.h>

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <vole/detail/left_behind.h>
#include <vole/detail/race.h>
#include <vole/detail/waitable.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// std::once_flag and std::call_once in one. The first call runs fn; the others wait until it has
// returned. A call whose fn throws, or ends its goroutine by exit_goroutine(), does not count: the
// next in the queue runs its own fn. fn must not call the same once: it would wait for itself (a
// deadlock, reported as one where nobody else is left). Its destruction while somebody waits is
// fatal, unless it is static and exit() destroys it; while fn runs and nobody waits, it is
// undefined.
class once {
 public:
  constexpr once() noexcept = default;
  ~once() {
    if ((detail::unseen::load(state_.word, std::memory_order_relaxed) & detail::wait_flag::all) !=
        0) [[unlikely]]
      detail::destroyed_while_used(state_, "once");
  }
  once(const once&) = delete;
  once& operator=(const once&) = delete;

  template <class F, class... Args>
  requires std::invocable<F, Args...>
  void call(F&& fn, Args&&... args) {
    if (detail::unseen::load(state_.word, std::memory_order_acquire) == detail::once_flag::done)
        [[likely]] {
      detail::race::acquire(&state_);
      return detail::end_if_left_behind();
    }
    const bool is_ours = detail::once_begin(state_) != 0;
    detail::race::acquire(&state_);
    if (!is_ours) return;
    struct end {
      detail::waitable& state;
      bool done = false;
      ~end() {
        detail::race::release(&state);
        detail::once_end(state, done);
      }
    } turn{state_};
    std::invoke(std::forward<F>(fn), std::forward<Args>(args)...);
    turn.done = true;
  }

 private:
  detail::waitable state_;
};

// Go's sync.OnceValue: a callable that computes its value at the first call and gives every caller
// a reference to it. Callers that come while fn runs wait for it.
//     static vole::once_value settings([] { return load("settings.ini"); });
//     use(settings());
// fn runs once, whatever comes of it: if it throws, every call throws that same exception, as Go's
// panics with the same value. (once is the other way: there each caller brings its own function,
// and may try again. Here all ask for one value, and a slow failure is not to be repeated by each
// of them in turn.) The exception object is shared by all who catch it: do not change it. A run
// that ends by exit_goroutine() has no outcome and does not count. fn, with all that it holds, is
// destroyed when it has run. An fn that returns a reference gives every caller that reference; one
// that returns nothing is Go's sync.OnceFunc.
template <class F>
requires std::invocable<F>
class once_value {
  using made = std::invoke_result_t<F>;

 public:
  using result_type = std::conditional_t<std::is_void_v<made> || std::is_reference_v<made>, made,
                                         std::add_lvalue_reference_t<std::add_const_t<made>>>;

  template <class From>
  requires(!std::same_as<std::remove_cvref_t<From>, once_value> &&
           std::constructible_from<F, From>) explicit constexpr once_value(From&& fn)
      : fn_(std::in_place, std::forward<From>(fn)) {}
  once_value(const once_value&) = delete;
  once_value& operator=(const once_value&) = delete;

  // The value; computed by the first who asks.
  result_type operator()() const {
    once_.call([this] { compute(); });
    if (error_) [[unlikely]]
      std::rethrow_exception(*error_);
    if constexpr (std::is_reference_v<made>) {
      return static_cast<made>(**value_);
    } else if constexpr (!std::is_void_v<made>) {
      return *value_;
    }
  }

 private:
  // no_sanitize: the library binds a forced unwind's reference to nothing.
  __attribute__((no_sanitize("undefined"))) void compute() const {
    try {
      if constexpr (std::is_void_v<made>) {
        std::invoke(*std::move(fn_));
      } else if constexpr (std::is_reference_v<made>) {
        made&& value = std::invoke(*std::move(fn_));
        value_.emplace(std::addressof(value));
      } else {
        value_.emplace(std::invoke(*std::move(fn_)));
      }
    } catch (abi::__forced_unwind&) {
      throw;  // exit_goroutine()
    } catch (...) {
      error_ = std::current_exception();
    }
    fn_.reset();
  }

  using kept = std::conditional_t<
      std::is_void_v<made>, char,
      std::conditional_t<std::is_reference_v<made>, std::remove_reference_t<made>*,
                         std::remove_cv_t<made>>>;

  // Written by the one who computes; once_ orders them before every reader.
  mutable once once_;
  mutable std::optional<F> fn_;
  mutable std::optional<kept> value_;
  mutable std::optional<std::exception_ptr> error_;
};

template <class F>
once_value(F) -> once_value<F>;

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
