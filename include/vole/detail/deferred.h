// A user's function that is kept to be called later. Not for users.
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

struct deferred {
  void (*call)(deferred* self);
  // Frees it. With `destroy` the function is destroyed first; without, the runtime has ended and
  // nobody knows how far it got.
  void (*end)(deferred* self, bool destroy) noexcept;
};

template <class F>
class deferred_fn final : public deferred {
 public:
  template <class From>
  explicit deferred_fn(std::in_place_t, From&& fn)
      : deferred{&call_it, &end_it}, fn_(std::forward<From>(fn)) {}
  ~deferred_fn() {}  // end_it has destroyed fn_, or not
  deferred_fn(const deferred_fn&) = delete;
  deferred_fn& operator=(const deferred_fn&) = delete;

 private:
  static void call_it(deferred* self) { std::invoke(static_cast<deferred_fn*>(self)->fn_); }
  static void end_it(deferred* self, bool destroy) noexcept {
    auto* const mine = static_cast<deferred_fn*>(self);
    if (destroy) std::destroy_at(std::addressof(mine->fn_));
    delete mine;
  }

  union {
    F fn_;
  };
};

struct end_deferred {
  void operator()(deferred* d) const noexcept { d->end(d, true); }
};
using deferred_ptr = std::unique_ptr<deferred, end_deferred>;

template <class F>
concept deferrable =
    std::constructible_from<std::decay_t<F>, F> && std::invocable<std::decay_t<F>&>;

template <deferrable F>
deferred_ptr defer(F&& fn) {
  return deferred_ptr(new deferred_fn<std::decay_t<F>>(std::in_place, std::forward<F>(fn)));
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
