// barrier: a number of parties go on together, phase after phase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <type_traits>
#include <utility>

#include <vole/detail/left_behind.h>
#include <vole/detail/race.h>
#include <vole/detail/waitable.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

namespace detail {
struct no_completion {
  void operator()() const noexcept {}
};
}  // namespace detail

// std::barrier: a phase ends when as many as are expected have arrived. The last one runs the
// completion function, on its own goroutine or thread, and then those who wait go on, and the next
// phase has begun. Goroutines park, plain threads block.
// More arrivals than are expected in a phase, and a number below 0 or above max(), are fatal. Once an
// arrival has released a waiter it no longer touches the object. Its destruction while somebody
// waits is fatal, unless it is static and exit() destroys it.
template <class CompletionFunction = detail::no_completion>
class barrier {
  static_assert(std::is_nothrow_invocable_v<CompletionFunction&>,
                "the completion function of a barrier must be noexcept");

 public:
  // Of the phase in which it was given: wait() for its end during that phase or the next one.
  class arrival_token {
   public:
    arrival_token(arrival_token&&) noexcept = default;
    arrival_token& operator=(arrival_token&&) noexcept = default;

   private:
    friend barrier;
    explicit arrival_token(std::uint64_t phase) noexcept : phase_(phase) {}
    std::uint64_t phase_;
  };

  static constexpr std::ptrdiff_t max() noexcept { return INT32_MAX; }

  explicit constexpr barrier(std::ptrdiff_t expected,
                             CompletionFunction completion = CompletionFunction())
      : state_(checked(expected)), completion_(std::move(completion)) {}
  ~barrier() {
    if ((detail::unseen::load(state_.word, std::memory_order_relaxed) &
         detail::wait_flag::anybody) != 0) [[unlikely]]
      detail::destroyed_while_used(state_, "barrier");
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  // Counts n arrivals, and does not wait: wait() takes the token.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t n = 1) { return arrival_token(arrive_n(n)); }

  void wait(arrival_token&& token) const noexcept {
    if (is_over(token.phase_)) {
      detail::end_if_left_behind();
    } else {
      detail::barrier_wait_slow(state_, token.phase_);
    }
    detail::race::acquire(edge(token.phase_));
  }
  // Until the context is cancelled at the latest: then std::system_error with its err(), which the
  // twin puts into `error`. So it is, too, if the context was cancelled before. The arrival counts
  // all the same, and the token may be used again.
  void wait(arrival_token&& token, const context& ctx) const {
    std::error_code error;
    if (!wait(std::move(token), ctx, error)) detail::throw_wait_ended("vole::barrier::wait", error);
  }
  bool wait(arrival_token&& token, const context& ctx, std::error_code& error) const noexcept {
    if (!detail::may_wait(ctx, error)) return false;
    return detail::race::acquired_if(
        is_over(token.phase_) || detail::barrier_wait_unless(state_, token.phase_, ctx, error),
        edge(token.phase_));
  }

  // Arrives, and waits until all have.
  void arrive_and_wait() { wait(arrive()); }
  // Arrives, and is not expected in the phases that follow.
  void arrive_and_drop() {
    if (detail::unseen::fetch_sub(state_.expected, 1, std::memory_order_relaxed) <= 0) [[unlikely]]
      detail::barrier_overrun();
    arrive_n(1);
  }

 private:
  static constexpr std::int32_t checked(std::ptrdiff_t n) noexcept {
    if (n < 0 || n > max()) detail::barrier_expected();
    return static_cast<std::int32_t>(n);
  }

  bool is_over(std::uint64_t phase) const noexcept {
    return (detail::unseen::load(state_.word, std::memory_order_acquire) &
            detail::barrier_flag::phase) != phase;
  }

  // What stands for a phase to a race detector; two phases are never under way at once.
  const void* edge(std::uint64_t phase) const noexcept {
    return reinterpret_cast<const char*>(&state_) + (phase == 0 ? 0 : 1);
  }

  std::uint64_t arrive_n(std::ptrdiff_t n) {
    if (detail::race::on)
      detail::race::release(edge(detail::unseen::load(state_.word, std::memory_order_relaxed) &
                                 detail::barrier_flag::phase));
    const std::uint64_t old = detail::unseen::fetch_sub(
        state_.word, static_cast<std::uint64_t>(n) << detail::wait_flag::count_shift,
        std::memory_order_acq_rel);
    const auto left = static_cast<std::ptrdiff_t>(old >> detail::wait_flag::count_shift);
    if (n <= 0 || n > left) [[unlikely]]
      detail::barrier_overrun();
    const std::uint64_t phase = old & detail::barrier_flag::phase;
    if (n == left) {
      detail::race::acquire(edge(phase));
      completion_();
      detail::race::release(edge(phase));
      detail::barrier_complete(state_);
    } else {
      detail::end_if_left_behind();
    }
    return phase;
  }

  mutable detail::barrier_waitable state_;
  [[no_unique_address]] CompletionFunction completion_;
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
