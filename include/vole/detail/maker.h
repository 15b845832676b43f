// How pool and local remember the function that makes their values. Not for users.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

template <class F, class T>
concept makes = std::invocable < std::decay_t<F>
& > &&(std::same_as<std::invoke_result_t<std::decay_t<F>&>, T> ||
       std::convertible_to<std::invoke_result_t<std::decay_t<F>&>, T>);

// A function, or a lambda without captures, is kept as a pointer: then the object is made at
// compile time. Any other callable takes a box on the heap.
template <class T>
class maker {
 public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, maker> &&
           makes<F, T>) explicit constexpr maker(F&& fn) {
    if constexpr (std::convertible_to<F, T (*)()>) {
      plain_ = std::forward<F>(fn);
    } else {
      boxed_ = std::make_unique<box<std::decay_t<F>>>(std::forward<F>(fn));
    }
  }
  maker(const maker&) = delete;
  maker& operator=(const maker&) = delete;

  T operator()() { return plain_ != nullptr ? plain_() : boxed_->call(); }

 private:
  struct base {
    base() = default;
    base(const base&) = delete;
    base& operator=(const base&) = delete;
    virtual ~base() = default;
    virtual T call() = 0;
  };
  template <class F>
  struct box final : base {
    template <class From>
    explicit box(From&& from) : fn(std::forward<From>(from)) {}
    T call() override { return std::invoke(fn); }
    F fn;
  };

  T (*plain_)() = nullptr;
  std::unique_ptr<base> boxed_;
};

template <class T>
T make_value() {
  return T();
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
