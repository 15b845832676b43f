// Time: the clock, sleeping, and functions that are called later.
#pragma once

#include <chrono>
#include <utility>

#include <vole/detail/deferred.h>
#include <vole/detail/time.h>

namespace vole {
inline namespace v0 {

// The clock all deadlines refer to.
inline time_point now() noexcept { return std::chrono::steady_clock::now(); }

// Parks the goroutine, or blocks the plain thread. Returns at once if the time is past.
inline void sleep_until(time_point t) noexcept { detail::sleep_until_ns(detail::to_ns(t)); }
inline void sleep_for(duration d) noexcept {
  if (d > duration::zero()) detail::sleep_until_ns(detail::deadline_after(d));
}

namespace detail {
class func_timer_node;
func_timer_node* make_func_timer(deferred_ptr fn, std::int64_t when);
void drop_func_timer(func_timer_node* n) noexcept;
bool stop_func_timer(func_timer_node* n) noexcept;
bool reset_func_timer(func_timer_node* n, std::int64_t when) noexcept;
}  // namespace detail

// The other end of after_func(d, fn). Movable. Destroying it does not stop the timer. When the
// runtime ends, pending timers are forgotten, and functions nobody else refers to are freed without
// running their destructors.
class func_timer {
 public:
  func_timer() noexcept = default;
  explicit func_timer(detail::func_timer_node* owned) noexcept : node_(owned) {}  // after_func's
  func_timer(func_timer&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  func_timer& operator=(func_timer&& other) noexcept {
    detail::drop_func_timer(std::exchange(node_, std::exchange(other.node_, nullptr)));
    return *this;
  }
  ~func_timer() { detail::drop_func_timer(node_); }

  // True: it was pending, and will not run. False: it has been started, or was stopped before.
  bool stop() noexcept { return detail::stop_func_timer(node_); }
  // Once more, that much from now. True: it was pending, and the earlier time counts no more.
  // False: it had been started or stopped; the function may then run twice at the same time.
  bool reset(duration d) noexcept {
    return detail::reset_func_timer(node_, detail::deadline_after(d));
  }

 private:
  detail::func_timer_node* node_ = nullptr;
};

// Calls fn after that time, in a goroutine of its own. From any thread; starts the runtime if none
// runs. An exception that leaves fn ends the program.
template <detail::deferrable F>
func_timer after_func(duration d, F&& fn) {
  const std::int64_t when = detail::deadline_after(d);
  return func_timer(detail::make_func_timer(detail::defer(std::forward<F>(fn)), when));
}

}  // namespace v0
}  // namespace vole
