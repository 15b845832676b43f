// once: something that is done once.
#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include <vole/detail/waitable.h>

namespace vole {
inline namespace v0 {

// std::once_flag and std::call_once in one. The first call runs fn; the others wait until it has
// returned. A call whose fn throws, or ends its goroutine by exit_goroutine(), does not count: the
// next in the queue runs its own fn. fn must not call the same once: it would wait for itself (a
// deadlock, reported as one where nobody else is left). Destroyed while somebody runs or waits:
// undefined.
class once {
 public:
  constexpr once() noexcept = default;
  once(const once&) = delete;
  once& operator=(const once&) = delete;

  template <class F, class... Args>
  requires std::invocable<F, Args...>
  void call(F&& fn, Args&&... args) {
    if (state_.word.load(std::memory_order_acquire) == detail::once_flag::done) [[likely]]
      return;
    if (detail::once_begin(state_) == 0) return;
    struct end {
      detail::waitable& state;
      bool done = false;
      ~end() { detail::once_end(state, done); }
    } turn{state_};
    std::invoke(std::forward<F>(fn), std::forward<Args>(args)...);
    turn.done = true;
  }

 private:
  detail::waitable state_;
};

}  // namespace v0
}  // namespace vole
