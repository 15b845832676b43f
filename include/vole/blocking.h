// Calls that block their thread.
//
//     std::string line = vole::blocking([&] { return read_from_slow_library(handle); });
//
// While fn blocks, the thread's goroutines run on other threads. A call that blocks without this is
// found out, too, but later: see docs/blocking.md.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

void begin_call() noexcept;
void end_call() noexcept;

struct blocking_call {
  blocking_call() noexcept { begin_call(); }
  ~blocking_call() { end_call(); }
  blocking_call(const blocking_call&) = delete;
  blocking_call& operator=(const blocking_call&) = delete;
};

}  // namespace detail

// Calls fn(args...) and returns its result, or throws what it throws. Read errno inside fn:
// afterwards the goroutine may be on another thread. On a plain thread it is a plain call.
template <class F, class... Args>
  requires std::is_invocable_v<F, Args...>
std::invoke_result_t<F, Args...> blocking(F&& fn, Args&&... args) {
  const detail::blocking_call call;
  return std::invoke(std::forward<F>(fn), std::forward<Args>(args)...);
}

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
