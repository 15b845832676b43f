// pool: values that are expensive to make, kept for the next goroutine that needs one.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <vole/detail/maker.h>
#include <vole/detail/pool_shards.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// Go's sync.Pool. get() returns a value that was put, or makes one; put() keeps a value. Which one
// comes back is unspecified. What was put is kept until the pool is destroyed; nobody may be using
// the pool then. `make`, T's moves and destructor run in the caller's context, nothing locked.
template <class T>
class pool {
  static_assert(std::is_object_v<T> && std::is_move_constructible_v<T>,
                "vole::pool<T>: T must be move-constructible");

 public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, pool> &&
           detail::makes<F, T>) explicit constexpr pool(F&& make)
      : make_(std::forward<F>(make)) {}
  ~pool() {
    while (detail::pool_node* const n = shards_.take_any()) delete static_cast<node*>(n);
  }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  [[nodiscard]] T get() {
    const std::unique_ptr<node> kept(static_cast<node*>(shards_.take()));
    return kept != nullptr ? T(std::move(kept->value)) : make_();
  }

  // Out of memory: the value is destroyed instead of kept.
  void put(T value) {
    if (auto* const n = new (std::nothrow) node(std::move(value))) shards_.put(n);
  }

 private:
  struct node : detail::pool_node {
    explicit node(T&& v) : value(std::move(v)) {}
    T value;
  };

  detail::maker<T> make_;
  detail::pool_shards shards_;
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
