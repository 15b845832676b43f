// select: waits on several channel operations and takes exactly one.
//
//     switch (vole::select(vole::on_recv(jobs, job), vole::on_send(out, 7), vole::on_default())) ...
//
// Clauses refer to their arguments: write them inside the call. The handler of the taken clause
// runs after the select, on the caller's stack, with nothing locked; its exceptions leave select().
// A value's move is another matter: it runs while channels are locked, and may neither wait nor wake
// (vole/chan.h).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <vole/chan.h>
#include <vole/detail/access.h>
#include <vole/detail/select_clause.h>
#include <vole/detail/select_core.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// fn takes what recv() returns, a std::optional<T> that is empty if the channel is closed; or a T, a
// default one if the channel is closed; or nothing.
template <class C, class Fn = detail::no_handler>
  requires detail::channel_to_receive<C> && detail::receive_handler<Fn, typename C::value_type>
[[nodiscard]] auto on_recv(const C& channel, Fn&& fn = {}) {
  using T = typename C::value_type;
  if constexpr (detail::takes_value<Fn, T> && !std::is_default_constructible_v<T>) {
    static_assert(std::is_default_constructible_v<T>,
                  "vole::on_recv: the handler takes T, so a closed channel gives it a default T, and "
                  "this T has none. Let the handler take std::optional<T>");
  } else {
    return detail::recv_clause<T, Fn&&>(detail::access::core(channel), std::forward<Fn>(fn));
  }
}
template <class C>
  requires detail::channel_to_receive<C>
[[nodiscard]] auto on_recv(const C& channel, std::optional<typename C::value_type>& out) {
  using T = typename C::value_type;
  auto store = [&out](std::optional<T> v) { detail::replace(out, std::move(v)); };
  return detail::recv_clause<T, decltype(store)>(detail::access::core(channel), std::move(store));
}

// Mistakes. The compiler shows the line with the name.
template <class C, class Fn>
  requires detail::channel_to_receive<C> &&
           (!detail::receive_handler<Fn, typename C::value_type>) &&
           (!std::same_as<Fn, std::optional<typename C::value_type>&>)
void on_recv(const C&, Fn&&) = delete;  // on_recv: a handler takes optional<T>, T or nothing
template <detail::channel_to_send C, class... Rest>
  requires(!detail::channel_to_receive<C>)
void on_recv(const C&, Rest&&...) = delete;  // on_recv: a send_chan can only send
template <detail::channel_to_receive C, class... Rest>
  requires(!detail::channel_to_send<C>)
void on_send(const C&, Rest&&...) = delete;  // on_send: a recv_chan can only receive
template <detail::channel_to_send C, class Value, class... Rest>
  requires(!std::convertible_to<Value, typename C::value_type>)
void on_send(const C&, Value&&, Rest&&...) = delete;  // on_send: this is no value for that channel

template <class C, class Value, class Fn = detail::no_handler>
  requires detail::channel_to_send<C> && std::convertible_to<Value, typename C::value_type> &&
           std::invocable<Fn>
[[nodiscard]] auto on_send(const C& channel, Value&& value, Fn&& fn = {}) {
  return detail::send_clause<typename C::value_type, Value, Fn&&>(
      detail::access::core(channel), std::forward<Value>(value), std::forward<Fn>(fn));
}

// Taken when that much time has passed since select() was called and nothing else was ready.
template <class Fn = detail::no_handler>
  requires std::invocable<Fn>
[[nodiscard]] auto on_after(detail::any_duration d, Fn&& fn = {}) {
  return detail::after_clause<Fn&&>(d, std::forward<Fn>(fn));
}

template <class Fn = detail::no_handler>
  requires std::invocable<Fn>
[[nodiscard]] auto on_default(Fn&& fn = {}) {
  return detail::default_clause<Fn&&>(std::forward<Fn>(fn));
}

// Blocks until one clause is taken and returns its index. select() blocks for ever.
template <detail::clause... Clauses>
std::size_t select(Clauses&&... clauses) {
  constexpr std::size_t n = sizeof...(Clauses);
  if constexpr (n == 0) {
    detail::select_nothing();
  } else {
    std::array<detail::select_op, n> operations{clauses.operation()...};
    detail::select_room<n> room;
    const detail::select_result r = detail::select_core(operations.data(), n, room.data());
    std::size_t i = 0;
    (void)((i++ == r.index ? (clauses.taken(r.ok), true) : false) || ...);
    return r.index;
  }
}

template <class... Clauses>
  requires(detail::kept_clause<Clauses> || ...)
void select(Clauses&&...) = delete;  // select: write clauses inside the call, or keep a select_case

// A clause that owns channel, value and handler, for selects whose number of cases is known only at
// run time. A send case that was taken is spent: it is never taken again.
class select_case {
 public:
  template <detail::clause Clause>
  select_case(Clause&& c) : owned_(c.own()) {}

 private:
  friend std::size_t select(std::span<select_case> cases);
  std::unique_ptr<detail::owned_case> owned_;
};

std::size_t select(std::span<select_case> cases);

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
