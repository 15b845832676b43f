// How a callable gets into a goroutine's record. Not for users.
//
// A decayed copy of the function and its arguments is kept as a std::tuple. Up to
// 64 bytes of it live in the record itself; more, or an unusual alignment, takes a
// box on the heap. One whose move copies bytes travels as bytes, in one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <vole/detail/race.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

inline constexpr std::size_t kInlineCallable = 64;
inline constexpr std::size_t kInlineAlign = 16;

struct spawn_request {
  void (*invoke)(void* callable);  // runs and destroys it
  // The runtime ended first; `running`: a thread it left behind still uses it. Null: nothing to do.
  void (*abandon)(void* callable, bool running) noexcept;
  const char* name;        // null: none
  std::size_t stack_size;  // 0: the default
};

// Each returns to user code; the address they return to is the creation site.
void* begin_spawn(const spawn_request& r);  // room for the callable; throws on a bad request
void finish_spawn(void* callable) noexcept;
void cancel_spawn(void* callable) noexcept;
void spawn_bytes(const spawn_request& r, const void* callable, std::size_t bytes);

template <class F, class... Args>
using packed = std::tuple<std::decay_t<F>, std::decay_t<Args>...>;

template <class Pack>
void run_pack(Pack& pack) {
  std::apply([](auto& fn, auto&... args) { std::invoke(std::move(fn), std::move(args)...); }, pack);
}

template <class Pack>
struct inline_callable {
  static void invoke(void* callable) {
    struct destroy {
      Pack* pack;
      ~destroy() { std::destroy_at(pack); }
    };
    const destroy at_the_end{std::launder(static_cast<Pack*>(callable))};
    run_pack(*at_the_end.pack);
  }
};

template <class Pack>
struct boxed_callable {
  static void free_box(void* box) noexcept {
    ::operator delete (box, std::align_val_t{alignof(Pack)});
  }
  struct deleter {
    void operator()(Pack* pack) const noexcept {
      std::destroy_at(pack);
      free_box(pack);
    }
  };
  template <class... Parts>
  static Pack* make(Parts&&... parts) {
    void* const box = ::operator new (sizeof(Pack), std::align_val_t{alignof(Pack)});
    try {
      return ::new (box) Pack(std::forward<Parts>(parts)...);
    } catch (...) {
      free_box(box);
      throw;
    }
  }
  static void invoke(void* callable) {
    const std::unique_ptr<Pack, deleter> box(*static_cast<Pack**>(callable));
    run_pack(*box);
  }
  // The memory goes, the destructors do not run: nobody knows how far the goroutine got.
  static void abandon(void* callable, bool running) noexcept {
    if (!running) free_box(*static_cast<void**>(callable));
  }
};

template <class Pack>
inline constexpr bool fits_inline =
    !race::on &&  // records are used again, and a box's memory is known to be new
    sizeof(Pack) <= kInlineCallable && alignof(Pack) <= kInlineAlign;

// Not is_trivially_copyable: to g++ 12 no lambda is, once it has seen a tuple of it.
template <class Part>
inline constexpr bool moves_as_bytes =
    std::is_trivially_move_constructible_v<Part>&& std::is_trivially_destructible_v<Part>;

// The decayed copy of fn and args, on its way into a new goroutine.
template <class F, class... Args>
[[gnu::always_inline]] inline void start_goroutine(const char* name, std::size_t stack_size, F&& fn,
                                                   Args&&... args) {
  using pack = packed<F, Args...>;
  if constexpr (!fits_inline<pack>) {
    using box = boxed_callable<pack>;
    auto* const made = box::make(std::forward<F>(fn), std::forward<Args>(args)...);
    try {
      spawn_bytes({&box::invoke, &box::abandon, name, stack_size}, &made, sizeof(made));
    } catch (...) {
      typename box::deleter{}(made);
      throw;
    }
  } else if constexpr (moves_as_bytes<std::decay_t<F>> &&
                       (moves_as_bytes<std::decay_t<Args>> && ...)) {
    pack bytes(std::forward<F>(fn), std::forward<Args>(args)...);
    spawn_bytes({&inline_callable<pack>::invoke, nullptr, name, stack_size}, &bytes, sizeof(bytes));
  } else {
    void* const room = begin_spawn({&inline_callable<pack>::invoke, nullptr, name, stack_size});
    try {
      ::new (room) pack(std::forward<F>(fn), std::forward<Args>(args)...);
    } catch (...) {
      cancel_spawn(room);
      throw;
    }
    finish_spawn(room);
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
