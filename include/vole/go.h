// Goroutines: run, go, spawn, yield, exit_goroutine.
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include <vole/detail/access.h>
#include <vole/detail/go_options.h>
#include <vole/detail/join.h>
#include <vole/detail/run.h>
#include <vole/detail/spawn.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// Runs main_fn as the main goroutine and returns its int (void: 0). When it returns the runtime
// stops: goroutines still alive are abandoned, as in Go, and their memory is released without
// running destructors. One that is in code of its own meanwhile runs on until its next call of vole,
// where it sleeps for ever. An exception that leaves main_fn is rethrown here; if nobody catches it,
// the program says that it came from the main goroutine, and ends.
// On a goroutine, or while another thread is in run(): std::logic_error.
template <class F>
  requires detail::main_function<F>
int run(F&& main_fn) {
  return detail::run_with(std::forward<F>(main_fn));
}
template <class F>
  requires(!detail::main_function<F>)
int run(F&&) = delete;  // run: a function without arguments that gives an int, or nothing

// A new goroutine, from any thread. Function and arguments are copied or moved, as by std::thread.
// Starts the runtime if none runs. An exception that leaves fn ends the program.
//     vole::go({.name = "worker " + std::to_string(i), .stack_size = 1 << 20}, fn, i);
// The name is shown in dumps; it is copied, and cut after 55 bytes.
template <class F, class... Args>
  requires detail::startable<F, Args...>
[[gnu::always_inline]] inline void go(F&& fn, Args&&... args) {
  detail::start_goroutine(nullptr, 0, std::forward<F>(fn), std::forward<Args>(args)...);
}
template <class F, class... Args>
  requires detail::startable<F, Args...>
[[gnu::always_inline]] inline void go(const go_options& options, F&& fn, Args&&... args) {
  detail::start_goroutine(detail::name_of(options), options.stack_size, std::forward<F>(fn),
                          std::forward<Args>(args)...);
}

// Mistakes. The compiler shows the line with the name.
template <class F, class... Args>
  requires detail::not_startable<F, Args...>
void go(F&&, Args&&...) = delete;  // go: the function cannot be called with copies of these arguments
template <class F, class... Args>
  requires detail::not_startable<F, Args...>
void go(const go_options&, F&&, Args&&...) = delete;  // go: it cannot be called with these arguments

// The other end of a spawned goroutine. Movable. Destroyed unjoined it joins; an exception that
// nobody collected is then a panic, which names the goroutine that threw it, unless the stack is
// already unwinding.
template <class R>
class [[nodiscard("destroyed at once it joins at once: keep the handle, or use go()")]] join_handle {
 public:
  join_handle() noexcept = default;
  join_handle(join_handle&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  join_handle& operator=(join_handle&& other) noexcept {
    if (this != &other) {
      give_up();
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~join_handle() { give_up(); }

  // Is there a goroutine that has neither been joined nor detached?
  bool joinable() const noexcept { return state_ != nullptr; }

  // Waits, then gives the result or rethrows; once. errc::goroutine_exited if it called
  // exit_goroutine(), errc::canceled if the runtime stopped first. std::logic_error if there is
  // nothing to join.
  R join() {
    if (state_ == nullptr) detail::throw_nothing_to_join();
    const detail::join_reference<R> held(std::exchange(state_, nullptr));
    return held.state->collect();
  }
  // The same, until the context is cancelled at the latest: then std::system_error with its err().
  // So it is, too, if the context was cancelled before. The goroutine goes on, and can still be
  // joined.
  R join(const context& ctx) {
    if (state_ == nullptr) detail::throw_nothing_to_join();
    std::error_code error;
    if (!state_->wait(ctx, error)) detail::throw_wait_ended("vole::join_handle::join", error);
    return join();
  }

  // Lets it run on alone. What it throws then is a panic.
  void detach() noexcept {
    if (state_ != nullptr) std::exchange(state_, nullptr)->drop();
  }

 private:
  friend struct detail::access;
  explicit join_handle(detail::join_state<R>* state) noexcept : state_(state) {}
  void give_up() noexcept {
    if (state_ == nullptr) return;
    const detail::join_reference<R> held(std::exchange(state_, nullptr));
    held.state->wait();
    if (held.state->failed() && !detail::unwinding()) held.state->panic();
  }

  detail::join_state<R>* state_ = nullptr;
};

template <class F, class... Args>
  requires detail::startable<F, Args...>
[[nodiscard, gnu::always_inline]] inline auto spawn(const go_options& options, F&& fn,
                                                    Args&&... args) {
  using result = std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>;
  using task = detail::joinable_task<result, std::decay_t<F>, std::decay_t<Args>...>;
  auto* const made = new task(std::forward<F>(fn), std::forward<Args>(args)...);
  try {
    const typename task::record kept{made};
    detail::spawn_bytes(
        {&task::invoke, &task::abandon, detail::name_of(options), options.stack_size}, &kept,
        sizeof(kept));
  } catch (...) {
    task::discard(made);
    throw;
  }
  return detail::access::make<join_handle<result>>(made);
}
template <class F, class... Args>
  requires detail::startable<F, Args...>
[[nodiscard("destroyed at once it joins at once: keep the handle, or use go()"),
  gnu::always_inline]] inline auto spawn(F&& fn, Args&&... args) {
  return spawn(go_options{}, std::forward<F>(fn), std::forward<Args>(args)...);
}

template <class F, class... Args>
  requires detail::not_startable<F, Args...>
void spawn(F&&, Args&&...) = delete;  // spawn: the function cannot be called with copies of these arguments
template <class F, class... Args>
  requires detail::not_startable<F, Args...>
void spawn(const go_options&, F&&, Args&&...) = delete;  // spawn: it cannot be called with these arguments

// Lets others run (Go's Gosched). On a plain thread: sched_yield.
void yield() noexcept;

// Ends this goroutine (Go's Goexit): unwinds its stack, destructors run. catch (...) must rethrow.
// On a plain thread: std::logic_error.
[[noreturn]] void exit_goroutine();

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
