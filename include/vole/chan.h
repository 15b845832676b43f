// Channels: chan<T>, and its one-way views send_chan<T> and recv_chan<T>.
//
// A chan is a reference, like Go's: copies share one channel, so every operation is const. Values
// are moved straight from sender to receiver; waiters are served in order. Any thread may use one.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include <vole/chan_status.h>
#include <vole/detail/access.h>
#include <vole/detail/chan_core.h>
#include <vole/detail/chan_value.h>
#include <vole/detail/time.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// Send on a closed channel, or a second close.
class channel_closed : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// The result of a receive that need not succeed. True exactly if status is ok.
template <class T>
struct received {
  chan_status status = chan_status::would_block;
  std::optional<T> value;  // there if status is ok

  explicit operator bool() const noexcept { return status == chan_status::ok; }
  T& operator*() & noexcept { return *value; }
  const T& operator*() const& noexcept { return *value; }
  T&& operator*() && noexcept { return *std::move(value); }
  T* operator->() noexcept { return &*value; }
  const T* operator->() const noexcept { return &*value; }
};

namespace detail {

// The handle all three classes are made of: a counted reference to a core.
class chan_handle {
 public:
  friend bool operator==(const chan_handle& a, const chan_handle& b) noexcept {
    return a.core_ == b.core_;
  }
  friend bool operator==(const chan_handle& a, std::nullptr_t) noexcept {
    return a.core_ == nullptr;
  }
  // An order for std::map and the like, as std::less orders pointers; it says nothing of the
  // channels. Nil comes first.
  friend std::strong_ordering operator<=>(const chan_handle& a, const chan_handle& b) noexcept {
    return std::compare_three_way()(a.core_, b.core_);
  }
  std::size_t size() const noexcept { return chan_size(core_); }
  std::size_t capacity() const noexcept { return chan_capacity(core_); }

 protected:
  explicit chan_handle(chan_core* owned) noexcept : core_(owned) {}
  chan_handle(const chan_handle& other) noexcept : core_(chan_share(other.core_)) {}
  chan_handle(chan_handle&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  chan_handle& operator=(const chan_handle& other) noexcept {
    chan_drop(std::exchange(core_, chan_share(other.core_)));
    return *this;
  }
  chan_handle& operator=(chan_handle&& other) noexcept {
    chan_drop(std::exchange(core_, std::exchange(other.core_, nullptr)));
    return *this;
  }
  ~chan_handle() { chan_drop(core_); }

 private:
  friend struct access;
  chan_core* core_;
};

// to = from, for a T that need not be assignable.
template <class T>
void replace(std::optional<T>& to, std::optional<T> from) {
  to.reset();
  if (!from.has_value()) return;
  try {
    to.emplace(*std::move(from));
  } catch (...) {
    chan_move_threw();
  }
}

// *it is T&&: for (auto v : ch) moves each value out. The end: closed and drained.
template <class T, class Channel>
class chan_iterator {
 public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::input_iterator_tag;

  chan_iterator() noexcept = default;
  explicit chan_iterator(const Channel& c) : from_(&c), value_(c.recv()) {}
  T&& operator*() const noexcept { return std::move(*value_); }
  chan_iterator& operator++() {
    replace(value_, from_->recv());
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const chan_iterator& it, std::default_sentinel_t) noexcept {
    return !it.value_.has_value();
  }

 private:
  const Channel* from_ = nullptr;
  mutable std::optional<T> value_;
};

template <class T, class Self>
struct sends {
  // Throws channel_closed, also when the channel is closed while it waits. The nil channel: waits
  // for ever.
  void send(T v) const {
    outgoing<T> value(v);
    if (!passed(chan_send<plain_size_of<T>>(mine(), value.cell()))) throw_closed_send();
    value.gone();
  }
  template <class U>
    requires(!std::same_as<T, std::monostate> && !std::convertible_to<U, T>)
  void send(U&&) const = delete;  // send: this is no value for that channel
  void send() const
    requires std::same_as<T, std::monostate>
  {
    send(T{});
  }

  // Does not wait. v is moved from only if the result is ok; a closed channel gives a result, too.
  // (The template parameter lets T be incomplete until a call.)
  chan_status try_send(T&& v) const { return attempt(v); }
  template <class U = T>
    requires std::copy_constructible<U>
  chan_status try_send(const T& v) const {
    T copy(v);
    return attempt(copy);
  }
  template <class U = T>
    requires(!std::copy_constructible<U>)
  chan_status try_send(const T& v) const = delete;  // the value can only be moved: std::move(v)
  chan_status try_send() const
    requires std::same_as<T, std::monostate>
  {
    return try_send(T{});
  }

  // As try_send, but waits until then.
  chan_status send_until(T&& v, any_time_point t) const { return attempt_until(v, to_ns(t)); }
  chan_status send_for(T&& v, any_duration d) const { return attempt_until(v, deadline_after(d)); }
  template <class U = T>
    requires std::copy_constructible<U>
  chan_status send_until(const T& v, any_time_point t) const {
    T copy(v);
    return attempt_until(copy, to_ns(t));
  }
  template <class U = T>
    requires(!std::copy_constructible<U>)
  chan_status send_until(const T& v, any_time_point) const = delete;  // only moved: std::move(v)
  template <class U = T>
    requires std::copy_constructible<U>
  chan_status send_for(const T& v, any_duration d) const {
    T copy(v);
    return attempt_until(copy, deadline_after(d));
  }
  template <class U = T>
    requires(!std::copy_constructible<U>)
  chan_status send_for(const T& v, any_duration) const = delete;  // only moved: std::move(v)

  // As try_send, but waits until ctx (vole/context.h) is cancelled: then canceled, also if somebody
  // could receive, when it has been cancelled before.
  chan_status send(T&& v, const context& ctx) const { return attempt_with(v, ctx); }
  template <class U = T>
    requires std::copy_constructible<U>
  chan_status send(const T& v, const context& ctx) const {
    T copy(v);
    return attempt_with(copy, ctx);
  }
  chan_status send(const context& ctx) const
    requires std::same_as<T, std::monostate>
  {
    return send(T{}, ctx);
  }

  // Throws channel_closed if closed already, std::logic_error on the nil channel.
  void close() const {
    if (mine() == nullptr) throw_nil_close();
    if (!chan_close(mine())) throw_closed_close();
  }

 private:
  chan_core* mine() const noexcept { return access::core(*static_cast<const Self*>(this)); }
  chan_status attempt(T& v) const {
    outgoing<T> value(v);
    const chan_status s = chan_try_send<plain_size_of<T>>(mine(), value.cell());
    if (s == chan_status::ok) value.gone();
    return s;
  }
  chan_status attempt_with(T& v, const context& ctx) const {
    outgoing<T> value(v);
    const chan_status s = chan_send_with(mine(), value.cell(), ctx);
    if (s == chan_status::ok) value.gone();
    return s;
  }
  chan_status attempt_until(T& v, std::int64_t when) const {
    outgoing<T> value(v);
    const chan_status s = chan_send_until(mine(), value.cell(), when);
    if (s == chan_status::ok) value.gone();
    return s;
  }
};

template <class T, class Self>
struct receives {
  using iterator = chan_iterator<T, Self>;

  // nullopt: closed and drained.
  std::optional<T> recv() const {
    incoming<T> room;
    if (!passed(chan_recv<plain_size_of<T>>(mine(), room.cell()))) return std::nullopt;
    return room.take();
  }
  [[nodiscard]] received<T> try_recv() const {
    incoming<T> room;
    const chan_status s = chan_try_recv<plain_size_of<T>>(mine(), room.cell());
    return {s, s == chan_status::ok ? room.take() : std::nullopt};
  }

  // As try_recv, but waits until then.
  [[nodiscard]] received<T> recv_until(any_time_point t) const { return receive_until(to_ns(t)); }
  [[nodiscard]] received<T> recv_for(any_duration d) const { return receive_until(deadline_after(d)); }

  // As try_recv, but waits until ctx (vole/context.h) is cancelled: then canceled, also if there is a
  // value, when it has been cancelled before.
  received<T> recv(const context& ctx) const {
    incoming<T> room;
    const chan_status s = chan_recv_with(mine(), room.cell(), ctx);
    return {s, s == chan_status::ok ? room.take() : std::nullopt};
  }

  iterator begin() const { return iterator(*static_cast<const Self*>(this)); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  received<T> receive_until(std::int64_t when) const {
    incoming<T> room;
    const chan_status s = chan_recv_until(mine(), room.cell(), when);
    return {s, s == chan_status::ok ? room.take() : std::nullopt};
  }
  chan_core* mine() const noexcept { return access::core(*static_cast<const Self*>(this)); }
};

}  // namespace detail

template <class T>
class send_chan;
template <class T>
class recv_chan;

// T: a non-const object type that can be moved. Checked when a channel is made, not when its type
// is named, so that struct msg { chan<msg> reply; } works. A move that throws while the value
// travels is fatal (into a parameter it is still the caller's, as is any copy).
// A move that is noexcept, and the destructor of what it leaves behind, run inside the scheduler
// while the channel is locked: on whichever thread serves the channel, and not necessarily on the
// sender or the receiver. So a move must be short, and it may neither wait for anybody nor wake
// anybody. It may allocate, lock a mutex that nobody else holds or waits for, and handle channels
// without using them. A call of vole that would wait or wake there (a send, go, yield, a sleep, the
// lock of a mutex that is held, the unlock of one that somebody waits for) is fatal, with a sentence
// that says so. Send a value that has to do more than that as a std::unique_ptr.
// A waiter keeps its channel alive, as in Go: the last handle may be dropped meanwhile. Nobody can
// serve the waiter then; it waits for its time limit, its other cases or the end of the runtime. But a
// handle is an object like any other: code that refers to one by a pointer or a reference ([&],
// [this]) must not begin an operation with it after it is destroyed.
template <class T = std::monostate>
class chan : public detail::chan_handle,
             public detail::sends<T, chan<T>>,
             public detail::receives<T, chan<T>> {
 public:
  using value_type = T;

  chan() : chan(std::size_t{0}) {}
  explicit chan(std::size_t capacity) : chan_handle(detail::make_chan<T>(capacity)) {}
  // The nil channel: blocks for ever. (chan(0) is a capacity.)
  template <class Null>
    requires std::same_as<Null, std::nullptr_t>
  chan(Null) noexcept : chan_handle(nullptr) {}

 private:
  friend class send_chan<T>;
  friend class recv_chan<T>;
};

template <class T = std::monostate>
class send_chan : public detail::chan_handle, public detail::sends<T, send_chan<T>> {
 public:
  using value_type = T;

  send_chan(const chan<T>& c) noexcept : chan_handle(static_cast<const chan_handle&>(c)) {}
  send_chan(chan<T>&& c) noexcept : chan_handle(static_cast<chan_handle&&>(c)) {}
  template <class Null>
    requires std::same_as<Null, std::nullptr_t>
  send_chan(Null) noexcept : chan_handle(nullptr) {}
};

template <class T = std::monostate>
class recv_chan : public detail::chan_handle, public detail::receives<T, recv_chan<T>> {
 public:
  using value_type = T;

  recv_chan(const chan<T>& c) noexcept : chan_handle(static_cast<const chan_handle&>(c)) {}
  recv_chan(chan<T>&& c) noexcept : chan_handle(static_cast<chan_handle&&>(c)) {}
  template <class Null>
    requires std::same_as<Null, std::nullptr_t>
  recv_chan(Null) noexcept : chan_handle(nullptr) {}

 private:
  friend struct detail::access;
  explicit recv_chan(detail::chan_core* owned) noexcept : chan_handle(owned) {}
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop

template <class T>
struct std::hash<vole::chan<T>> {
  std::size_t operator()(const vole::chan<T>& c) const noexcept {
    return std::hash<void*>{}(vole::detail::access::core(c));
  }
};
template <class T>
struct std::hash<vole::send_chan<T>> {
  std::size_t operator()(const vole::send_chan<T>& c) const noexcept {
    return std::hash<void*>{}(vole::detail::access::core(c));
  }
};
template <class T>
struct std::hash<vole::recv_chan<T>> {
  std::size_t operator()(const vole::recv_chan<T>& c) const noexcept {
    return std::hash<void*>{}(vole::detail::access::core(c));
  }
};
