// What a spawned goroutine and its join_handle share. Not for users.
#pragma once

#include <cxxabi.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <vole/detail/race.h>
#include <vole/detail/thrower.h>
#include <vole/sync.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

enum class outcome : unsigned char { pending, value, exception, exited, canceled };

// The stack is being unwound: by an exception, or by exit_goroutine().
bool unwinding() noexcept;
// The panic for an exception that left a spawned goroutine, and that no join() has asked for.
[[noreturn]] void uncollected(const std::exception_ptr& error, const thrower* by) noexcept;
[[noreturn]] void throw_nothing_to_join();
[[noreturn]] void throw_no_result(outcome why);

// Two references: the goroutine's and the handle's. The last one deletes.
class join_base {
 public:
  join_base(const join_base&) = delete;
  join_base& operator=(const join_base&) = delete;
  virtual ~join_base() = default;

  void wait() noexcept { finished_.wait(); }
  bool wait(const context& ctx, std::error_code& error) noexcept {
    return finished_.wait(ctx, error);
  }
  bool failed() const noexcept { return outcome_ == outcome::exception; }
  [[noreturn]] void rethrow() { rethrow_from(std::exchange(error_, nullptr), thrower_.get()); }
  [[noreturn]] void panic() noexcept { uncollected(error_, thrower_.get()); }
  void drop() noexcept {
    race::release(&references_);
    if (unseen::fetch_sub(references_, 1, std::memory_order_acq_rel) != 1) return;
    race::acquire(&references_);
    delete this;
  }

 protected:
  join_base() noexcept = default;

  void begin() noexcept {
    finished_.add(1);
  }  // last in construction: what throws earlier is no task

  void conclude(outcome o) noexcept {
    outcome_ = o;
    finished_.done();
  }
  void finish(outcome o) noexcept {
    conclude(o);
    drop();
  }

  outcome outcome_ = outcome::pending;
  std::exception_ptr error_;
  std::unique_ptr<thrower> thrower_;  // with error_

 private:
  friend struct join_places;  // api/go.cc: dumps know where finished_ is
  wait_group finished_;
  std::atomic<int> references_{2};
};

template <class R>
class join_state : public join_base {
 public:
  R collect() {
    this->wait();
    if (this->outcome_ == outcome::exception) this->rethrow();
    if (this->outcome_ != outcome::value) throw_no_result(this->outcome_);
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(*value_);
    } else if constexpr (!std::is_void_v<R>) {
      return std::move(*value_);
    }
  }

 protected:
  using slot = std::conditional_t<
      std::is_void_v<R>, char,
      std::conditional_t<std::is_reference_v<R>, std::remove_reference_t<R>*, std::optional<R>>>;
  slot value_{};
};

template <class R>
struct join_reference {
  explicit join_reference(join_state<R>* s) noexcept : state(s) {}
  join_reference(const join_reference&) = delete;
  ~join_reference() { state->drop(); }
  join_state<R>* state;
};

template <class R, class... Parts>
class joinable_task final : public join_state<R> {
 public:
  template <class... From>
  explicit joinable_task(From&&... from) : parts_(std::in_place, std::forward<From>(from)...) {
    this->begin();
  }

  // What the goroutine's record holds.
  struct record {
    joinable_task* open;                 // until somebody claims it, to finish it
    joinable_task* finishing = nullptr;  // claimed by the goroutine, which still has its reference
  };

  static void invoke(void* callable) {
    auto* const self = opened(callable);
    const outcome o = self->run(callable);
    if (claim(callable) != nullptr) self->finish_here(callable, o);
  }
  // The runtime ended first. How far the goroutine got nobody knows: nothing is destroyed, and if a
  // thread still runs it, the task stays for ever.
  static void abandon(void* callable, bool running) noexcept {
    joinable_task* const self = claim(callable);
    if (self == nullptr) {
      joinable_task* const half_done = running ? nullptr : finishing(callable);
      if (half_done != nullptr) half_done->drop();
      return;
    }
    if (running) return self->conclude(outcome::canceled);
    self->parts_.forget();
    self->finish(outcome::canceled);
  }
  // It could not be started.
  static void discard(joinable_task* self) noexcept {
    self->finish(outcome::canceled);
    self->drop();
  }

 private:
  // The callable may be destroyed or not when the runtime ends; an optional that can forget.
  class parts {
   public:
    template <class... From>
    explicit parts(std::in_place_t, From&&... from) : pack_(std::forward<From>(from)...) {}
    ~parts() { reset(); }
    parts(const parts&) = delete;
    parts& operator=(const parts&) = delete;
    void reset() noexcept {
      if (alive_) std::destroy_at(&pack_);
      alive_ = false;
    }
    void forget() noexcept { alive_ = false; }
    std::tuple<Parts...>& operator*() noexcept { return pack_; }

   private:
    union {
      std::tuple<Parts...> pack_;
    };
    bool alive_ = true;
  };

  // The record is the library's memory, used again for other goroutines.
  VOLE_UNSEEN static joinable_task* opened(void* callable) noexcept {
    return static_cast<record*>(callable)->open;
  }
  VOLE_UNSEEN static joinable_task* finishing(void* callable) noexcept {
    return static_cast<record*>(callable)->finishing;
  }
  VOLE_UNSEEN static void finish_through(void* callable, joinable_task* task) noexcept {
    static_cast<record*>(callable)->finishing = task;
  }
  // The caller that gets the task out of the goroutine's record finishes it; only one does.
  VOLE_UNSEEN static joinable_task* claim(void* callable) noexcept {
    return __atomic_exchange_n(&static_cast<record*>(callable)->open, nullptr, __ATOMIC_ACQ_REL);
  }

  // On the goroutine, having claimed it. The runtime may end while it wakes the waiters.
  void finish_here(void* callable, outcome o) noexcept {
    finish_through(callable, this);
    this->conclude(o);
    finish_through(callable, nullptr);
    this->drop();
  }

  // no_sanitize: the library binds a forced unwind's reference to nothing.
  __attribute__((no_sanitize("undefined"))) outcome run(void* callable) {
    struct clear {
      parts& p;
      ~clear() { p.reset(); }
    };
    try {
      const clear at_the_end{parts_};
      call();
      return outcome::value;
    } catch (abi::__forced_unwind&) {
      if (claim(callable) != nullptr) this->finish_here(callable, outcome::exited);
      throw;
    } catch (throw_probe&) {
      return outcome::exception;  // never: it only looks
    } catch (...) {
      this->error_ = std::current_exception();
      this->thrower_ = this_thrower();
      return outcome::exception;
    }
  }

  void call() {
    auto invoke_parts = [](auto& fn, auto&... args) -> R {
      return std::invoke(std::move(fn), std::move(args)...);
    };
    if constexpr (std::is_void_v<R>) {
      std::apply(invoke_parts, *parts_);
    } else if constexpr (std::is_reference_v<R>) {
      R result = std::apply(invoke_parts, *parts_);
      this->value_ = &result;
    } else {
      this->value_.emplace(std::apply(invoke_parts, *parts_));
    }
  }

  parts parts_;
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
