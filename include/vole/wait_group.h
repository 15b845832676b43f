// wait_group: waits for a number of things to be done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include <vole/detail/go_options.h>
#include <vole/detail/left_behind.h>
#include <vole/detail/race.h>
#include <vole/detail/spawn.h>
#include <vole/detail/waitable.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// Waits for a number of things to be done. A negative count, destruction while it is not zero,
// and add() while waiters of the round before are still being released are fatal.
// Once done() has released a waiter it no longer touches the object.
class wait_group {
 public:
  constexpr wait_group() noexcept = default;
  ~wait_group() {
    if (detail::unseen::load(state_.word, std::memory_order_relaxed) != 0)
      detail::wait_group_destroyed();
  }
  wait_group(const wait_group&) = delete;
  wait_group& operator=(const wait_group&) = delete;

  void add(std::int32_t n = 1) noexcept {
    const std::uint64_t delta = static_cast<std::uint64_t>(n) << detail::wait_flag::count_shift;
    if (n < 0) detail::race::release(&state_);  // add() of a positive number orders nothing
    const std::uint64_t old =
        detail::unseen::fetch_add(state_.word, delta, std::memory_order_acq_rel);
    const std::int64_t now =
        std::int64_t{static_cast<std::int32_t>(old >> detail::wait_flag::count_shift)} + n;
    if (n > 0 && now == n) detail::race::reads(&state_.waiters);
    const std::uint64_t special = (old & detail::wait_flag::all) | detail::left_behind();
    if (now <= 0 || (n > 0 && now > INT32_MAX) || special != 0) [[unlikely]]
      detail::wait_group_add_slow(state_, old, n);
  }
  void done() noexcept { add(-1); }

  // Waits until the count is zero.
  void wait() noexcept {
    if (detail::unseen::load(state_.word, std::memory_order_acquire) == 0) {
      detail::end_if_left_behind();
    } else {
      detail::wait_group_wait_slow(state_);
    }
    detail::race::acquire(&state_);
  }
  // Until the context is cancelled at the latest: then std::system_error with its err(), which the
  // twin puts into `error`. So it is, too, if the context was cancelled before. What is counted
  // goes on, and may still use the group: wait() again before it is destroyed.
  void wait(const context& ctx) {
    std::error_code error;
    if (!wait(ctx, error)) detail::throw_wait_ended("vole::wait_group::wait", error);
  }
  bool wait(const context& ctx, std::error_code& error) noexcept {
    if (!detail::may_wait(ctx, error)) return false;
    if (detail::unseen::load(state_.word, std::memory_order_acquire) != 0)
      return detail::race::acquired_if(detail::wait_group_wait_unless(state_, ctx, error), &state_);
    detail::end_if_left_behind();
    return detail::race::acquired_if(true, &state_);
  }

  // Runs fn(args...) on a new goroutine that counts as one. Function and arguments are copied or
  // moved, as by vole::go. If fn throws, the program ends.
  template <class F, class... Args>
  requires detail::startable<F, Args...>
  [[gnu::always_inline]] inline void go(F&& fn, Args&&... args) {
    start(nullptr, 0, std::forward<F>(fn), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  requires detail::startable<F, Args...>
  [[gnu::always_inline]] inline void go(const go_options& options, F&& fn, Args&&... args) {
    start(detail::name_of(options), options.stack_size, std::forward<F>(fn),
          std::forward<Args>(args)...);
  }
  // A mistake. The compiler shows the line with the name.
  template <class F, class... Args>
    requires detail::not_startable<F, Args...>
  void go(F&&, Args&&...) = delete;  // wait_group::go: it cannot be called with copies of these arguments

 private:
  template <class F, class... Args>
  [[gnu::always_inline]] inline void start(const char* name, std::size_t stack_size, F&& fn,
                                           Args&&... args) {
    using call = detail::call_t<F, Args...>;
    add(1);
    try {
      detail::start_goroutine(
          name, stack_size,
          done_after<call>{this, std::optional<call>(std::in_place, std::forward<F>(fn),
                                                     std::forward<Args>(args)...)});
    } catch (...) {
      done();
      throw;
    }
  }

  // Counts down when fn has returned or exit_goroutine() unwinds it, after fn is destroyed.
  template <class F>
  struct done_after {
    wait_group* group;
    std::optional<F> fn;

    void operator()() {
      struct finally {
        done_after& self;
        ~finally() {
          self.fn.reset();
          self.group->done();
        }
      } const at_the_end{*this};
      std::invoke(*std::move(fn));
    }
  };

  detail::waitable state_;
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
