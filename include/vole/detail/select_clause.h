// What on_recv, on_send, on_after and on_default make: a clause, which refers to its arguments, and the
// case that owns them. Not for users.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <vole/detail/chan_core.h>
#include <vole/detail/chan_value.h>
#include <vole/detail/select_core.h>
#include <vole/detail/time.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

struct no_handler {
  void operator()() const noexcept {}
};

template <class C>
concept channel_to_send = requires(const C& c) { typename C::value_type; c.close(); };
template <class C>
concept channel_to_receive = requires(const C& c) { typename C::value_type; c.recv(); };

// A clause that is an lvalue.
template <class C>
concept kept_clause = std::is_lvalue_reference_v<C> &&
                      requires { typename std::remove_reference_t<C>::vole_clause; };

// Only an rvalue is a clause: an lvalue would be one that outlived its arguments.
template <class C>
concept clause = !std::is_lvalue_reference_v<C> && requires { typename C::vole_clause; };

// The one parameter that a function or a function object declares; void if that is not one type.
template <class Call>
struct parameter_of {
  using type = void;
};
template <class R, class A>
struct parameter_of<R (*)(A)> {
  using type = A;
};
template <class R, class A>
struct parameter_of<R (*)(A) noexcept> {
  using type = A;
};
template <class R, class C, class A>
struct parameter_of<R (C::*)(A)> {
  using type = A;
};
template <class R, class C, class A>
struct parameter_of<R (C::*)(A) const> {
  using type = A;
};
template <class R, class C, class A>
struct parameter_of<R (C::*)(A) noexcept> {
  using type = A;
};
template <class R, class C, class A>
struct parameter_of<R (C::*)(A) const noexcept> {
  using type = A;
};
template <class Fn>
struct declared_parameter : parameter_of<Fn> {};
template <class Fn>
  requires requires { &Fn::operator(); }
struct declared_parameter<Fn> : parameter_of<decltype(&Fn::operator())> {};
// It says T, so it means T, though a T could be made of a std::optional<T>, as a std::any can.
template <class Fn, class T>
concept declares_value =
    std::same_as<std::remove_cvref_t<typename declared_parameter<std::decay_t<Fn>>::type>, T>;

// A handler of on_recv. Where it could take both, as a generic lambda can, it gets the optional.
template <class Fn, class T>
concept takes_optional = std::invocable<Fn, std::optional<T>> && !declares_value<Fn, T>;
template <class Fn, class T>
concept takes_value = !takes_optional<Fn, T> && std::invocable<Fn, T>;
template <class Fn, class T>
concept receive_handler = takes_optional<Fn, T> || std::invocable<Fn, T> || std::invocable<Fn>;

template <class T, class Fn>
void call_with(Fn&& fn, std::optional<T> value) {
  if constexpr (takes_optional<Fn, T>) {
    std::invoke(std::forward<Fn>(fn), std::move(value));
  } else if constexpr (takes_value<Fn, T>) {
    value.has_value() ? static_cast<void>(std::invoke(std::forward<Fn>(fn), *std::move(value)))
                      : static_cast<void>(std::invoke(std::forward<Fn>(fn), T()));
  } else {
    std::invoke(std::forward<Fn>(fn));
  }
}

// What a select_case owns: channel, value and handler.
struct owned_case {
  explicit owned_case(chan_core* c) noexcept : channel(chan_share(c)) {}
  owned_case(const owned_case&) = delete;
  owned_case& operator=(const owned_case&) = delete;
  virtual ~owned_case() { chan_drop(channel); }
  virtual select_op operation() = 0;
  virtual void taken(bool ok) = 0;
  chan_core* const channel;
};

template <class T, class Fn>
struct owned_recv final : owned_case {
  owned_recv(chan_core* c, Fn&& f) : owned_case(c), fn(std::move(f)) {}
  owned_recv(chan_core* c, const Fn& f) : owned_case(c), fn(f) {}
  select_op operation() override { return {channel, room.cell(), select_kind::receive}; }
  void taken(bool ok) override { call_with<T>(fn, ok ? room.take() : std::nullopt); }
  Fn fn;
  incoming<T> room;
};

template <class T, class Fn>
struct owned_send final : owned_case {
  template <class F>
  owned_send(chan_core* c, T&& v, F&& f)
      : owned_case(c), value(std::move(v)), fn(std::forward<F>(f)) {}
  select_op operation() override {
    if (!value.has_value()) return {nullptr, nullptr, select_kind::send};
    if (!out.has_value()) out.emplace(*value);
    return {channel, out->cell(), select_kind::send};
  }
  void taken(bool ok) override {
    if (!ok) throw_closed_send();
    out->gone();
    out.reset();
    value.reset();
    fn();
  }
  std::optional<T> value;  // empty: spent, never taken again
  Fn fn;
  std::optional<outgoing<T>> out;
};

template <class Fn>
struct owned_default final : owned_case {
  template <class F>
  explicit owned_default(F&& f) : owned_case(nullptr), fn(std::forward<F>(f)) {}
  select_op operation() override { return {nullptr, nullptr, select_kind::otherwise}; }
  void taken(bool) override { fn(); }
  Fn fn;
};

template <class T, class Fn>
class recv_clause {
 public:
  using vole_clause = void;
  recv_clause(chan_core* c, Fn fn) : channel_(c), fn_(std::forward<Fn>(fn)) {}
  recv_clause(const recv_clause&) = delete;
  select_op operation() noexcept { return {channel_, room_.cell(), select_kind::receive}; }
  void taken(bool ok) { call_with<T>(std::forward<Fn>(fn_), ok ? room_.take() : std::nullopt); }
  std::unique_ptr<owned_case> own() {
    return std::make_unique<owned_recv<T, std::decay_t<Fn>>>(channel_, std::forward<Fn>(fn_));
  }

 private:
  chan_core* channel_;
  Fn fn_;
  incoming<T> room_;
};

template <class T, class Value, class Fn>
class send_clause {
 public:
  using vole_clause = void;
  send_clause(chan_core* c, Value&& v, Fn fn)
      : channel_(c), holder_(std::forward<Value>(v)), fn_(std::forward<Fn>(fn)) {}
  send_clause(const send_clause&) = delete;
  select_op operation() {
    value_.emplace(holder_);
    return {channel_, value_->cell(), select_kind::send};
  }
  void taken(bool ok) {
    if (!ok) throw_closed_send();
    value_->gone();
    std::invoke(std::forward<Fn>(fn_));
  }
  std::unique_ptr<owned_case> own() {
    return std::make_unique<owned_send<T, std::decay_t<Fn>>>(channel_, T(std::move(holder_)),
                                                             std::forward<Fn>(fn_));
  }

 private:
  // An rvalue T is referred to, and moved from only if this case is taken; anything else is
  // converted now.
  using holder = std::conditional_t<std::is_same_v<Value, T>, T&&, T>;
  chan_core* channel_;
  holder holder_;
  Fn fn_;
  std::optional<outgoing<T>> value_;
};

template <class Fn>
struct owned_after final : owned_case {
  template <class F>
  owned_after(duration d, F&& f) : owned_case(nullptr), delay(d), fn(std::forward<F>(f)) {}
  select_op operation() override {
    return {nullptr, nullptr, select_kind::after, deadline_after(delay)};
  }
  void taken(bool) override { fn(); }
  duration delay;
  Fn fn;
};

template <class Fn>
class after_clause {
 public:
  using vole_clause = void;
  after_clause(duration d, Fn fn) : delay_(d), fn_(std::forward<Fn>(fn)) {}
  after_clause(const after_clause&) = delete;
  select_op operation() noexcept {
    return {nullptr, nullptr, select_kind::after, deadline_after(delay_)};
  }
  void taken(bool) { std::invoke(std::forward<Fn>(fn_)); }
  std::unique_ptr<owned_case> own() {
    return std::make_unique<owned_after<std::decay_t<Fn>>>(delay_, std::forward<Fn>(fn_));
  }

 private:
  duration delay_;
  Fn fn_;
};

template <class Fn>
class default_clause {
 public:
  using vole_clause = void;
  explicit default_clause(Fn fn) : fn_(std::forward<Fn>(fn)) {}
  default_clause(const default_clause&) = delete;
  select_op operation() noexcept { return {nullptr, nullptr, select_kind::otherwise}; }
  void taken(bool) { std::invoke(std::forward<Fn>(fn_)); }
  std::unique_ptr<owned_case> own() {
    return std::make_unique<owned_default<std::decay_t<Fn>>>(std::forward<Fn>(fn_));
  }

 private:
  Fn fn_;
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
