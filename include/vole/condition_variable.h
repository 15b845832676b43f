// condition_variable: std::condition_variable_any over vole::mutex.
#pragma once

#include <concepts>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <system_error>

#include <vole/detail/left_behind.h>
#include <vole/detail/race.h>
#include <vole/detail/time.h>
#include <vole/detail/waitable.h>
#include <vole/mutex.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// Go's sync.Cond. Waiters are woken in the order in which they came: one that comes after a
// notify_one() never takes the place of one that was waiting. A wake-up without a notify does not
// happen, but what was true when notify was called may no longer be when the mutex is locked
// again: wait with a predicate. Once a notify has released a waiter it does not touch the object.
// Waiting with a lock that is not held, or with another mutex than that of a present waiter, is
// fatal. After notify_all() it may be destroyed. Its destruction while somebody waits is fatal, unless
// it is static and exit() destroys it.
class condition_variable {
 public:
  constexpr condition_variable() noexcept = default;
  ~condition_variable() {
    if (detail::unseen::load(state_.word, std::memory_order_acquire) != 0) [[unlikely]]
      detail::condition_destroyed(state_);
  }
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  // Unlocks, waits, locks again.
  void wait(std::unique_lock<mutex>& lock) noexcept { wait_with(lock, nullptr); }

  template <std::predicate Pred>
  void wait(std::unique_lock<mutex>& lock, Pred pred) {
    while (!pred()) wait(lock);
  }

  // Waits until pred() holds or a stop is requested; returns pred().
  // The request may come from any thread or goroutine, one that holds the mutex included, but not
  // after run() has returned and abandoned this goroutine: like any std::stop_callback on its
  // stack, ours stays registered.
  template <std::predicate Pred>
  [[nodiscard]] bool wait(std::unique_lock<mutex>& lock, std::stop_token token, Pred pred) {
    if (token.stop_requested()) return pred();
    if (pred()) return true;
    detail::condition_stop stop{state_};
    const std::stop_callback on_stop(token,
                                     [&stop]() noexcept { detail::condition_stopped(stop); });
    while (!token.stop_requested()) {
      wait_with(lock, &stop);
      if (pred()) return true;
    }
    return pred();
  }

  // Waits until notified or until the context is cancelled. In the second case, and if it was cancelled
  // before, it throws std::system_error with the context's err(); the twins put that into `error`. The
  // mutex is locked again in any case. With a predicate it waits until that holds; if the predicate
  // holds, the call succeeds, whatever the context says.
  void wait(std::unique_lock<mutex>& lock, const context& ctx) {
    std::error_code error;
    if (!wait(lock, ctx, error)) detail::throw_wait_ended("vole::condition_variable::wait", error);
  }
  bool wait(std::unique_lock<mutex>& lock, const context& ctx, std::error_code& error) noexcept {
    if (!lock.owns_lock()) [[unlikely]]
      detail::condition_without_lock();
    if (!detail::may_wait(ctx, error)) return false;
    detail::race::release(&lock.mutex()->state_);
    const bool notified = detail::condition_wait_unless(state_, lock.mutex()->state_, ctx, error);
    lock.mutex()->lock();
    return notified;
  }
  template <std::predicate Pred>
  void wait(std::unique_lock<mutex>& lock, const context& ctx, Pred pred) {
    std::error_code error;
    if (!wait(lock, ctx, std::ref(pred), error))
      detail::throw_wait_ended("vole::condition_variable::wait", error);
  }
  template <std::predicate Pred>
  bool wait(std::unique_lock<mutex>& lock, const context& ctx, Pred pred, std::error_code& error) {
    error.clear();
    while (!pred()) {
      if (wait(lock, ctx, error)) continue;
      if (!pred()) return false;
      error.clear();
    }
    return true;
  }

  // Waits until notified, or until that time. With a predicate it waits until that holds, and returns
  // pred(). If the time is past, it unlocks and locks again.
  std::cv_status wait_until(std::unique_lock<mutex>& lock, detail::any_time_point t) noexcept {
    return wait_until_ns(lock, detail::to_ns(t));
  }
  std::cv_status wait_for(std::unique_lock<mutex>& lock, detail::any_duration d) noexcept {
    return wait_until_ns(lock, detail::deadline_after(d));
  }
  template <std::predicate Pred>
  bool wait_until(std::unique_lock<mutex>& lock, detail::any_time_point t, Pred pred) {
    return wait_until_ns(lock, detail::to_ns(t), pred);
  }
  template <std::predicate Pred>
  bool wait_for(std::unique_lock<mutex>& lock, detail::any_duration d, Pred pred) {
    return wait_until_ns(lock, detail::deadline_after(d), pred);
  }

  // A mistake. The compiler shows the line with the name.
  template <class M, class... Rest>
    requires(!std::same_as<M, mutex>)
  void wait(std::unique_lock<M>&, Rest&&...) = delete;  // wait: the lock must be of a vole::mutex

  // Wakes the one that waits longest; wakes all of them.
  void notify_one() noexcept { notify(false); }
  void notify_all() noexcept { notify(true); }

 private:
  void wait_with(std::unique_lock<mutex>& lock, detail::condition_stop* stop) noexcept {
    if (!lock.owns_lock()) [[unlikely]]
      detail::condition_without_lock();
    detail::race::release(&lock.mutex()->state_);
    detail::condition_wait(state_, lock.mutex()->state_, stop);
    lock.mutex()->lock();
  }

  std::cv_status wait_until_ns(std::unique_lock<mutex>& lock, std::int64_t when) noexcept {
    if (!lock.owns_lock()) [[unlikely]]
      detail::condition_without_lock();
    detail::race::release(&lock.mutex()->state_);
    const bool in_time = detail::condition_wait_until(state_, lock.mutex()->state_, when);
    lock.mutex()->lock();
    return in_time ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  template <class Pred>
  bool wait_until_ns(std::unique_lock<mutex>& lock, std::int64_t when, Pred& pred) {
    while (!pred())
      if (wait_until_ns(lock, when) == std::cv_status::timeout) return pred();
    return true;
  }

  void notify(bool all) noexcept {
    if ((detail::unseen::load(state_.word, std::memory_order_relaxed) &
         detail::wait_flag::waiting) != 0)
      return detail::condition_notify(state_, all);
    detail::end_if_left_behind();
  }

  detail::waitable state_;
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
