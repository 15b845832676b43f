// condition_variable: std::condition_variable_any over vole::mutex.
#pragma once

#include <concepts>
#include <mutex>
#include <stop_token>

#include <vole/detail/waitable.h>
#include <vole/mutex.h>

namespace vole {
inline namespace v0 {

// Go's sync.Cond. Waiters are woken in the order in which they came: one that comes after a
// notify_one() never takes the place of one that was waiting. A wake-up without a notify does not
// happen, but what was true when notify was called may no longer be when the mutex is locked
// again: wait with a predicate. Once a notify has released a waiter it does not touch the object.
// wait() with a lock that is not held is fatal. Destroyed while somebody waits: undefined; fatal in
// checked builds of the library.
class condition_variable {
 public:
  constexpr condition_variable() noexcept = default;
  ~condition_variable() { detail::destroying(state_, "condition_variable"); }
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  // Unlocks, waits, locks again.
  void wait(std::unique_lock<mutex>& lock) noexcept { wait_with(lock, nullptr); }

  template <std::predicate Pred>
  void wait(std::unique_lock<mutex>& lock, Pred pred) {
    while (!pred()) wait(lock);
  }

  // Until pred() holds or a stop is requested; returns pred(). The request may come from any
  // thread or goroutine, one that holds the mutex included, but not after run() has returned and
  // abandoned this goroutine: like any std::stop_callback on its stack, ours stays registered.
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

  void notify_one() noexcept { notify(false); }
  void notify_all() noexcept { notify(true); }

 private:
  void wait_with(std::unique_lock<mutex>& lock, detail::condition_stop* stop) noexcept {
    if (!lock.owns_lock()) [[unlikely]]
      detail::condition_without_lock();
    detail::condition_wait(state_, lock.mutex()->state_, stop);
    lock.mutex()->lock();
  }

  void notify(bool all) noexcept {
    if ((state_.word.load(std::memory_order_relaxed) & detail::wait_flag::waiting) != 0)
      detail::condition_notify(state_, all);
  }

  detail::waitable state_;
};

}  // namespace v0
}  // namespace vole
