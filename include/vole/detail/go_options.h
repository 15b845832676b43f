// go_options, and what go, spawn, wait_group::go and group::go ask of a function. Users include
// vole/go.h.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// A goroutine's name. It owns its text, so it may be made of a temporary std::string. The text
// ends at the first zero byte and after 55 bytes.
class goroutine_name {
 public:
  constexpr goroutine_name() noexcept = default;
  constexpr goroutine_name(const char* text) noexcept {  // null: none
    if (text != nullptr) take(text, kMost);
  }
  constexpr goroutine_name(std::string_view text) noexcept { take(text.data(), text.size()); }
  constexpr goroutine_name(const std::string& text) noexcept { take(text.data(), text.size()); }

  constexpr bool empty() const noexcept { return text_[0] == '\0'; }
  constexpr const char* c_str() const noexcept { return text_; }
  constexpr operator std::string_view() const noexcept { return text_; }

 private:
  static constexpr std::size_t kMost = 55;

  constexpr void take(const char* text, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n && i < kMost && text[i] != '\0'; ++i) text_[i] = text[i];
  }

  char text_[kMost + 1] = {};
};

struct go_options {
  goroutine_name name = {};    // shown in dumps; from const char*, std::string or std::string_view
  std::size_t stack_size = 0;  // bytes; 0: the default (256 KiB, or VOLE_STACK_SIZE)
};

namespace detail {

// Copied or moved. (A std::tuple alone would copy what may not be moved.)
template <class T>
concept passed_on = std::constructible_from<std::decay_t<T>, T>;

template <class F, class... Args>
concept startable = !std::same_as<std::remove_cvref_t<F>, go_options> && passed_on<F> &&
                    (passed_on<Args> && ...) &&
                    std::invocable<std::decay_t<F>, std::decay_t<Args>...>;

template <class F, class... Args>
concept not_startable = !std::same_as<std::remove_cvref_t<F>, go_options> && !startable<F, Args...>;

// What the compiled part takes; null: none.
inline const char* name_of(const go_options& options) noexcept {
  return options.name.empty() ? nullptr : options.name.c_str();
}

// A function and its arguments, to be called once without any.
template <class F, class... Args>
struct bound_call {
  template <class From, class... ArgsFrom>
  explicit bound_call(From&& fn, ArgsFrom&&... args)
      : parts(std::forward<From>(fn), std::forward<ArgsFrom>(args)...) {}
  void operator()() && {
    std::apply([](F& fn, Args&... args) { (void)std::invoke(std::move(fn), std::move(args)...); },
               parts);
  }
  std::tuple<F, Args...> parts;
};

template <class F, class... Args>
struct call_of {
  using type = bound_call<F, Args...>;
};
template <class F>
struct call_of<F> {
  using type = F;
};
// The decayed copy of fn and args as one callable: fn itself if there are no arguments.
template <class F, class... Args>
using call_t = typename call_of<std::decay_t<F>, std::decay_t<Args>...>::type;

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
