// local: a value per goroutine.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <vole/detail/local_values.h>
#include <vole/detail/maker.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// A goroutine's counterpart of thread_local (which goroutines must not use: they change threads).
// Each goroutine, and each plain thread, gets a T of its own when it first asks: value-initialised,
// or what `make` returns. It is destroyed, in reverse order of making, on the goroutine when its
// function has returned or exit_goroutine() has unwound it (a join() may return a moment earlier),
// on a plain thread when the thread ends. Usually static. Destroying the local<T> itself leaves the
// values to their goroutines. Those of abandoned goroutines are released without destructors.
template <class T>
class local {
  static_assert(std::is_object_v<T>, "vole::local<T>: T must be an object type");

 public:
  constexpr local() requires std::default_initializable<T> : make_(&detail::make_value<T>) {}
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, local> &&
           detail::makes<F, T>) explicit constexpr local(F&& make)
      : make_(std::forward<F>(make)) {}
  local(const local&) = delete;
  local& operator=(const local&) = delete;

  // This goroutine's value, or this plain thread's; made on first use.
  T& get() {
    if (detail::local_value* const v = detail::find_local_value(key_.get())) [[likely]]
      return static_cast<node*>(v)->value;
    return make();
  }
  T& operator*() { return get(); }
  T* operator->() { return std::addressof(get()); }

 private:
  struct node : detail::local_value {
    explicit node(detail::maker<T>& make) : value(make()) {}
    T value;

    static void finish(detail::local_value* self, bool destroy) noexcept {
      auto* const n = static_cast<node*>(self);
      if (destroy) std::destroy_at(n);
      ::operator delete (static_cast<void*>(n), std::align_val_t{alignof(node)});
    }
  };
  struct end_node {
    void operator()(node* n) const noexcept { node::finish(n, true); }
  };

  [[gnu::noinline]] T& make() {
    void* const room = ::operator new (sizeof(node), std::align_val_t{alignof(node)});
    node* made;
    try {
      made = ::new (room) node(make_);
    } catch (...) {
      ::operator delete (room, std::align_val_t{alignof(node)});
      throw;
    }
    std::unique_ptr<node, end_node> held(made);
    made->key = key_.get();
    made->end = &node::finish;
    detail::add_local_value(made);
    return held.release()->value;
  }

  detail::local_key key_;
  detail::maker<T> make_;
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
