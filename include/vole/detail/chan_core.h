// The compiled half of a channel, which knows bytes and not types. Not for users.
#pragma once

#include <cstddef>
#include <cstdint>

#include <vole/chan_status.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

class context;

namespace detail {

// How to handle one value.
struct chan_type {
  std::size_t size;
  std::size_t align;
  void (*move)(void* to, void* from) noexcept;   // constructs *to from *from; null: memcpy
  void (*leave)(void* moved_from) noexcept;      // destroys what a move left; null: nothing to do
  void (*destroy)(void* value) noexcept;         // destroys a value; null: nothing to do
};

// The size of a value that is copied without a call: numbers, pointers and mere signals, what mostly
// travels. 0: any other.
constexpr std::size_t plain_size(bool is_bytes, std::size_t size) noexcept {
  return is_bytes && (size == 8 || size == 4 || size == 1) ? size : 0;
}
// Not constexpr: under -fsanitize=undefined g++ takes no function's address for a constant there.
inline std::size_t plain_size(const chan_type& t) noexcept {
  return plain_size(t.move == nullptr && t.leave == nullptr, t.size);
}

class chan_core;  // null: the nil channel

chan_core* chan_make(const chan_type& type, std::size_t capacity);
chan_core* chan_share(chan_core* c) noexcept;
void chan_drop(chan_core* c) noexcept;

// `value` is moved from, `room` is constructed, exactly if the result says ok, or passed() of it.
// Not passed: the channel is closed (and drained, for who receives).
// A whole word: what the waker left, as it is, so that nothing remains to be done after a switch.
// Plain: plain_size of the channel's type. A function for each, so that none has to ask.
template <std::size_t Plain>
[[gnu::visibility("default")]] std::uintptr_t chan_send(chan_core* c, void* value) noexcept;
template <std::size_t Plain>
[[gnu::visibility("default")]] std::uintptr_t chan_recv(chan_core* c, void* room) noexcept;
inline bool passed(std::uintptr_t result) noexcept { return (result & 1) != 0; }
template <std::size_t Plain>
[[gnu::visibility("default")]] chan_status chan_try_send(chan_core* c, void* value) noexcept;
template <std::size_t Plain>
[[gnu::visibility("default")]] chan_status chan_try_recv(chan_core* c, void* room) noexcept;
// `when`: ns of the steady clock.
chan_status chan_send_until(chan_core* c, void* value, std::int64_t when) noexcept;
chan_status chan_recv_until(chan_core* c, void* room, std::int64_t when) noexcept;
// Until the context is cancelled. One that is already wins over a channel that is ready.
chan_status chan_send_with(chan_core* c, void* value, const context& ctx) noexcept;
chan_status chan_recv_with(chan_core* c, void* room, const context& ctx) noexcept;
bool chan_close(chan_core* c) noexcept;                         // false: closed already
std::size_t chan_size(const chan_core* c) noexcept;
std::size_t chan_capacity(const chan_core* c) noexcept;

[[noreturn]] void throw_closed_send();
[[noreturn]] void throw_closed_close();
[[noreturn]] void throw_nil_close();
[[noreturn]] void chan_move_threw() noexcept;  // in a handler; fatal

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
