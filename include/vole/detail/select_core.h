// The compiled half of select. Not for users.
#pragma once

#include <cstddef>
#include <cstdint>

#include <vole/detail/chan_core.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

enum class select_kind : std::uint8_t { receive, send, otherwise, after };

struct select_op {
  chan_core* channel;  // null: never ready
  void* slot;
  select_kind kind;
  std::int64_t when = 0;  // after: ns of the steady clock
};

struct select_result {
  std::size_t index;
  bool ok;  // false: the channel was closed
};

// Scratch memory for n cases, so that a select allocates nothing.
struct select_scratch {
  alignas(64) std::byte waiter[64];
  chan_core* channel;  // as they are locked, in order
  std::uint32_t poll_order;
};
template <std::size_t N>
struct select_room {
  select_scratch cases[N];
  select_scratch* data() noexcept { return cases; }
};

select_result select_core(const select_op* ops, std::size_t n, select_scratch* room) noexcept;
[[noreturn]] void select_nothing() noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
