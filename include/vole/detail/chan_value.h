// How a value of type T travels through a channel's compiled core. Not for users.
//
// The core moves bytes-with-a-function. A T whose move cannot throw travels itself: moved under
// the lock, straight from the sender's memory into the receiver's. Any other T travels in a box:
// it is moved into one before the lock is taken, and out of it after. A move that throws is fatal
// in either case: there is no place where the value could stay.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <vole/detail/chan_core.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

template <class T>
inline constexpr bool travels_itself = std::is_nothrow_move_constructible_v<T>;

template <class T>
T moved(T& from) noexcept {
  try {
    return T(std::move(from));
  } catch (...) {
    chan_move_threw();
  }
}

template <class T>
std::optional<T> moved_out(T& from) noexcept {
  try {
    return std::optional<T>(std::move(from));
  } catch (...) {
    chan_move_threw();
  }
}

template <class T>
struct chan_type_of {
  using cell = std::conditional_t<travels_itself<T>, T, T*>;

  static void move(void* to, void* from) noexcept {
    ::new (to) cell(std::move(*std::launder(static_cast<cell*>(from))));
  }
  static void leave(void* moved_from) noexcept {
    std::destroy_at(std::launder(static_cast<cell*>(moved_from)));
  }
  static void destroy(void* value) noexcept {
    cell* const c = std::launder(static_cast<cell*>(value));
    if constexpr (travels_itself<T>) {
      std::destroy_at(c);
    } else {
      delete *c;
    }
  }
  static constexpr bool bytes = std::is_trivially_copyable_v<cell>;
  static constexpr chan_type type{
      sizeof(cell),
      alignof(cell),
      bytes ? nullptr : &move,
      std::is_trivially_destructible_v<cell> ? nullptr : &leave,
      std::is_trivially_destructible_v<cell> && travels_itself<T> ? nullptr : &destroy,
  };
};

template <class T>
inline constexpr std::size_t plain_size_of =
    plain_size(chan_type_of<T>::bytes, sizeof(typename chan_type_of<T>::cell));

template <class T>
chan_core* make_chan(std::size_t capacity) {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && !std::is_array_v<T>,
                "vole::chan<T>: T must be a non-const object type");
  static_assert(std::is_move_constructible_v<T>, "vole::chan<T>: T must be move-constructible");
  return chan_make(chan_type_of<T>::type, capacity);
}

// A value on its way out, as the core wants it. The core moves from it exactly if the send
// succeeds; then call gone().
template <class T>
class outgoing {
 public:
  explicit outgoing(T& v) noexcept : value_(v) {}
  void* cell() noexcept { return std::addressof(value_); }
  void gone() noexcept {}

 private:
  T& value_;
};

template <class T>
  requires(!travels_itself<T>)
class outgoing<T> {
 public:
  explicit outgoing(T& v) : owner_(v), box_(new T(moved(v))) {}
  ~outgoing() {
    if (box_ != nullptr) give_back();
  }
  outgoing(const outgoing&) = delete;
  outgoing& operator=(const outgoing&) = delete;
  void* cell() noexcept { return &box_; }
  void gone() noexcept { box_ = nullptr; }

 private:
  void give_back() noexcept {
    const std::unique_ptr<T> box(box_);
    std::destroy_at(std::addressof(owner_));
    ::new (static_cast<void*>(std::addressof(owner_))) T(moved(*box));
  }

  T& owner_;
  T* box_;
};

// Room for a value that may come.
template <class T>
class incoming {
 public:
  void* cell() noexcept { return room_; }
  // The value that came. Once.
  std::optional<T> take() {
    auto* const c = std::launder(reinterpret_cast<cell_type*>(room_));
    if constexpr (travels_itself<T>) {
      const after_use then{c};
      return std::optional<T>(std::move(*c));
    } else {
      const std::unique_ptr<T> box(*c);
      return moved_out(*box);
    }
  }

 private:
  using cell_type = typename chan_type_of<T>::cell;
  struct after_use {
    ~after_use() { std::destroy_at(cell); }
    cell_type* cell;
  };
  alignas(cell_type) std::byte room_[sizeof(cell_type)];
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
