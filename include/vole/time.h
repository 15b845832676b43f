// Time: the clock, sleeping, timers and tickers, and functions that are called later.
//
// Wherever vole takes a duration it takes any std::chrono::duration: 5ms, 0.5s, hours(1). What is
// finer than a nanosecond is cut off, what is too long lasts for ever, and what is no number (a NaN)
// is no time. Wherever it takes a time_point it takes any time of the steady clock, and one of
// another clock: that is as far from now as that clock says when the call is made.
#pragma once

#include <chrono>
#include <system_error>
#include <utility>

#include <vole/chan.h>
#include <vole/detail/access.h>
#include <vole/detail/deferred.h>
#include <vole/detail/left_behind.h>
#include <vole/detail/time.h>
#include <vole/duration.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// The clock all deadlines refer to.
inline time_point now() noexcept {
  detail::end_if_left_behind();
  return detail::from_ns(detail::now_ns());
}

// Parks the goroutine, or blocks the plain thread. Returns at once if the time is past.
inline void sleep_until(detail::any_time_point t) noexcept {
  detail::sleep_until_ns(detail::to_ns(t));
}
inline void sleep_for(detail::any_duration d) noexcept {
  const std::int64_t ns = duration(d).count();
  if (ns > 0) return detail::sleep_for_ns(ns);
  detail::end_if_left_behind();
}
// Sleeps until the context is cancelled at the latest. In that case, and if it was cancelled before, it
// throws std::system_error with the context's err(); the twins put that into `error` and return false.
void sleep_until(detail::any_time_point t, const context& ctx);
bool sleep_until(detail::any_time_point t, const context& ctx, std::error_code& error) noexcept;
void sleep_for(detail::any_duration d, const context& ctx);
bool sleep_for(detail::any_duration d, const context& ctx, std::error_code& error) noexcept;

namespace detail {

chan_core* make_clock(std::int64_t when, std::int64_t period);  // period 0: once
bool stop_clock(chan_core* c) noexcept;
bool reset_clock(chan_core* c, std::int64_t when, std::int64_t period) noexcept;
std::int64_t checked_period(duration d);  // throws std::invalid_argument unless positive

// The common part of timer and ticker.
class clock_handle {
 public:
  clock_handle(clock_handle&&) noexcept = default;
  clock_handle& operator=(clock_handle&& other) noexcept {
    if (this == &other) return *this;
    stop_clock(access::core(channel_));
    channel_ = std::move(other.channel_);
    return *this;
  }
  ~clock_handle() { stop_clock(access::core(channel_)); }

  // The nil channel of one that was moved from.
  recv_chan<time_point> channel() const noexcept {
    end_if_left_behind();
    return channel_;
  }

  // True: it was pending, or its value had not been received yet. Nothing is received from the
  // channel from now on, not even what was on its way.
  bool stop() noexcept { return stop_clock(access::core(channel_)); }

 protected:
  clock_handle(std::int64_t when, std::int64_t period)
      : channel_(access::make<recv_chan<time_point>>(make_clock(when, period))) {}
  bool start(std::int64_t when, std::int64_t period) noexcept {
    return reset_clock(access::core(channel_), when, period);
  }

 private:
  recv_chan<time_point> channel_;
};

}  // namespace detail

// Sends the time on its channel, once, that much from now; at once if d is not positive. As Go's
// since 1.23: its receivers see an unbuffered channel (size and capacity are 0), and after stop or
// reset no earlier value is ever received. Any thread; starts the runtime if none runs, and
// is forgotten when that ends, as if stopped. Destroying it stops it.
class timer : public detail::clock_handle {
 public:
  explicit timer(detail::any_duration d) : clock_handle(detail::deadline_after(d), 0) {}

  // Starts it once more, that much from now. Returns what stop() would.
  bool reset(detail::any_duration d) noexcept { return start(detail::deadline_after(d), 0); }
};

// Sends the time on its channel again and again. Ticks that nobody receives in time, or that come
// late (a busy machine, a suspended one), become one. The rest as timer. Throws
// std::invalid_argument unless d is positive.
class ticker : public detail::clock_handle {
 public:
  explicit ticker(detail::any_duration d)
      : clock_handle(detail::deadline_after(d), detail::checked_period(d)) {}

  // From now on it ticks with that period, first that much from now. Returns what stop() would.
  bool reset(detail::any_duration d) {
    const std::int64_t period = detail::checked_period(d);
    return start(detail::deadline_after(d), period);
  }
};

// timer(d).channel() without the timer, which ends when nobody holds the channel any more.
[[nodiscard]] inline recv_chan<time_point> after(detail::any_duration d) {
  return detail::access::make<recv_chan<time_point>>(
      detail::make_clock(detail::deadline_after(d), 0));  // the channel holds its own timer
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
  func_timer(func_timer&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  func_timer& operator=(func_timer&& other) noexcept {
    detail::drop_func_timer(std::exchange(node_, std::exchange(other.node_, nullptr)));
    return *this;
  }
  ~func_timer() { detail::drop_func_timer(node_); }

  // True: it was pending, and will not run. False: it was stopped before, or it has been started, and
  // may be about to run or run.
  bool stop() noexcept { return detail::stop_func_timer(node_); }
  // Starts it once more, that much from now. True: it was pending, and the earlier time counts no more.
  // False: it had been started or stopped; the function may then run twice at the same time.
  bool reset(detail::any_duration d) noexcept {
    return detail::reset_func_timer(node_, detail::deadline_after(d));
  }

 private:
  friend struct detail::access;
  explicit func_timer(detail::func_timer_node* owned) noexcept : node_(owned) {}
  detail::func_timer_node* node_ = nullptr;
};

// Calls fn after that time, in a goroutine of its own. From any thread; starts the runtime if none
// runs. An exception that leaves fn ends the program.
template <detail::deferrable F>
func_timer after_func(detail::any_duration d, F&& fn) {
  const std::int64_t when = detail::deadline_after(d);
  return detail::access::make<func_timer>(
      detail::make_func_timer(detail::defer(std::forward<F>(fn)), when));
}

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
