// singleflight: one call for all callers that ask the same at the same time.
//
//     vole::singleflight<std::string, page> loads;
//     page p = loads.call(url, [&] { return fetch(url); });
//
// Go's golang.org/x/sync/singleflight. (Its Do is call here: do is a word of C++.)
#pragma once

#include <cxxabi.h>

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>

#include <vole/chan.h>
#include <vole/context.h>
#include <vole/mutex.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// The first caller with a key runs its own function; callers that come with that key before it has
// returned wait, and get a copy of its result, or the exception that it threw. Then the key is free:
// results are not kept. The exception object is shared by all callers: do not change it. A run
// that ends by exit_goroutine() has no outcome: the next waiter runs its own function. fn must
// not call the same key again: it would wait for itself. V may be void. Not movable; nobody may use
// it while it is destroyed.
template <class K, class V, class Hash = std::hash<K>, class Equal = std::equal_to<K>>
class singleflight {
  static_assert(std::is_void_v<V> || std::is_copy_constructible_v<V>,
                "vole::singleflight<K, V>: V must be copyable, since each caller gets a copy; use a "
                "std::shared_ptr for one that is not");

 public:
  singleflight() = default;
  singleflight(const singleflight&) = delete;
  singleflight& operator=(const singleflight&) = delete;

  template <class F>
    requires std::invocable<F&> && std::convertible_to<std::invoke_result_t<F&>, V>
  V call(const K& key, F&& fn) {
    for (;;) {
      const auto [mine, is_first] = board(key);
      if (is_first) return fly(key, mine, fn);
      mine->landed.recv();
      if (mine->has_outcome()) return result_of(*mine);
    }
  }

  // When the context is done, a wait for another caller's run ends with the context's error, a
  // std::system_error. (The function itself is not interrupted: give it the context, too.)
  template <class F>
    requires std::invocable<F&> && std::convertible_to<std::invoke_result_t<F&>, V>
  V call(const K& key, F&& fn, const context& ctx) {
    for (;;) {
      const auto [mine, is_first] = board(key);
      if (is_first) return fly(key, mine, fn);
      if (mine->landed.recv(ctx).status == chan_status::canceled)
        throw std::system_error(ctx.err(), "vole::singleflight");
      if (mine->has_outcome()) return result_of(*mine);
    }
  }

  // The next caller with this key runs its own function, even if one runs now.
  void forget(const K& key) {
    const std::lock_guard lock(guard_);
    flights_.erase(key);
  }

 private:
  struct flight {
    chan<> landed;  // closed then
    std::optional<std::conditional_t<std::is_void_v<V>, std::monostate, V>> value;
    std::exception_ptr error;
    bool has_outcome() const noexcept { return value.has_value() || error != nullptr; }
  };
  using flight_ptr = std::shared_ptr<flight>;

  // The flight of that key, and whether it is the caller's to fly.
  std::pair<flight_ptr, bool> board(const K& key) {
    const std::lock_guard lock(guard_);
    flight_ptr& there = flights_[key];
    if (there != nullptr) return {there, false};
    try {
      there = std::make_shared<flight>();
    } catch (...) {
      flights_.erase(key);
      throw;
    }
    return {there, true};
  }

  // However fn ends: frees the key, and lets the waiters go on.
  struct landing {
    singleflight& all;
    const K& key;
    const flight_ptr& mine;
    ~landing() {
      {
        const std::lock_guard lock(all.guard_);
        const auto at = all.flights_.find(key);
        if (at != all.flights_.end() && at->second == mine) all.flights_.erase(at);
      }
      mine->landed.close();
    }
  };

  // no_sanitize: the library binds a forced unwind's reference to nothing.
  template <class F>
  __attribute__((no_sanitize("undefined"))) V fly(const K& key, const flight_ptr& mine, F& fn) {
    {
      const landing at_the_end{*this, key, mine};
      try {
        if constexpr (std::is_void_v<V>) {
          std::invoke(fn);
          mine->value.emplace();
        } else {
          mine->value.emplace(std::invoke(fn));
        }
      } catch (abi::__forced_unwind&) {
        throw;  // exit_goroutine()
      } catch (...) {
        mine->error = std::current_exception();
      }
    }
    return result_of(*mine);
  }

  static V result_of(const flight& f) {
    if (f.error != nullptr) std::rethrow_exception(f.error);
    if constexpr (!std::is_void_v<V>) return *f.value;
  }

  mutex guard_;
  std::unordered_map<K, flight_ptr, Hash, Equal> flights_;  // under guard_
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
