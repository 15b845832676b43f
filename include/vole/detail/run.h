// run()'s frame: what the main goroutine leaves for the thread that waits. Not for users.
#pragma once

#include <cxxabi.h>

#include <concepts>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include <vole/detail/thrower.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

// Starts the runtime, calls body(arg) on the main goroutine, waits until it returns, stops the
// runtime. Throws std::logic_error where run() may not be called.
void run_main(void (*body)(void*), void* arg);

// While run() rethrows what has left the main goroutine. If nobody outside catches it, the program
// ends before this is destroyed, and says where the exception came from.
class rethrowing {
 public:
  explicit rethrowing(const thrower* by) noexcept;
  ~rethrowing();
  rethrowing(const rethrowing&) = delete;
  rethrowing& operator=(const rethrowing&) = delete;
};

template <class F>
concept main_function = std::invocable<F> && requires {
  requires std::is_void_v<std::invoke_result_t<F>> || requires(F&& f) {
    static_cast<int>(std::invoke(std::forward<F>(f)));
  };
};

template <class F>
int run_with(F&& main_fn) {
  struct frame {
    F& fn;
    int result = 0;
    std::exception_ptr error;
    std::unique_ptr<thrower> by;
  } f{main_fn, 0, nullptr, nullptr};
  run_main(
      // no_sanitize: the library binds a forced unwind's reference to nothing.
      [](void* arg) __attribute__((no_sanitize("undefined"))) {
        auto& mine = *static_cast<frame*>(arg);
        try {
          if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
            std::invoke(std::forward<F>(mine.fn));
          } else {
            mine.result = static_cast<int>(std::invoke(std::forward<F>(mine.fn)));
          }
        } catch (abi::__forced_unwind&) {
          throw;  // exit_goroutine(): the others go on
        } catch (throw_probe&) {
          // never: it only looks
        } catch (...) {
          mine.error = std::current_exception();
          mine.by = this_thrower();
        }
      },
      &f);
  if (f.error) {
    const rethrowing here(f.by.get());
    std::rethrow_exception(std::move(f.error));
  }
  return f.result;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
