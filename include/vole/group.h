// group: goroutines that work on one task, and end together.
#pragma once

#include <cxxabi.h>

#include <concepts>
#include <exception>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <vole/chan.h>
#include <vole/context.h>
#include <vole/detail/group_state.h>
#include <vole/detail/spawn.h>
#include <vole/wait_group.h>

namespace vole {
inline namespace v0 {

// Go's errgroup. The first exception that leaves one of its functions cancels context(), with that
// exception as the cause, and wait() rethrows it; later ones are dropped. The functions are expected
// to look at context(): nothing else stops them. Destroying the group cancels and waits, and drops
// an exception that no wait() has asked for.
class group {
 public:
  group() : group(vole::context::background()) {}
  explicit group(const vole::context& parent) : scope_(with_cancel(parent)) {}
  group(const group&) = delete;
  group& operator=(const group&) = delete;
  ~group() {
    scope_.cancel();
    running_.wait();
  }

  const vole::context& context() const noexcept { return scope_.ctx; }

  // fn on a new goroutine of the group. At the limit it waits until another one has ended.
  template <class F>
    requires std::invocable<std::decay_t<F>>
  void go(F&& fn) {
    enter();  // first: wait() waits for us, too
    if (limit_ != nullptr) limit_.send();
    start(std::forward<F>(fn));
  }
  // Likewise, but false at the limit.
  template <class F>
    requires std::invocable<std::decay_t<F>>
  [[nodiscard]] bool try_go(F&& fn) {
    if (limit_ != nullptr && limit_.try_send() != chan_status::ok) return false;
    enter();
    start(std::forward<F>(fn));
    return true;
  }

  // At most n goroutines at a time; negative: any number. With 0 none can be started. Not to be
  // called while others use the group; while goroutines of it run: std::logic_error.
  void set_limit(int n) {
    if (members_.any())
      throw std::logic_error("vole::group: set_limit() while its goroutines run");
    limit_ = n < 0 ? chan<>(nullptr) : chan<>(static_cast<std::size_t>(n));
  }

  // Until all have ended. Then context() is cancelled, and the first exception, if any, rethrown.
  void wait() {
    running_.wait();
    scope_.cancel();
    if (error_.get() != nullptr) std::rethrow_exception(error_.get());
  }

 private:
  template <class F>
  struct member {
    group* mine;
    std::optional<F> fn;

    // no_sanitize: the library binds a forced unwind's reference to nothing.
    __attribute__((no_sanitize("undefined"))) void operator()() {
      const ending at_the_end{*this};
      try {
        (*std::move(fn))();
      } catch (abi::__forced_unwind&) {
        throw;  // exit_goroutine(): no error
      } catch (...) {
        mine->fail(std::current_exception());
      }
    }

    // After fn is destroyed; the group may be gone as soon as the last one is done.
    struct ending {
      member& self;
      ~ending() {
        self.fn.reset();
        self.mine->leave();
      }
    };
  };

  template <class F>
  void start(F&& fn) {
    try {
      detail::start_goroutine(nullptr, 0, member<std::decay_t<F>>{this, std::forward<F>(fn)});
    } catch (...) {
      leave();
      throw;
    }
  }

  void fail(const std::exception_ptr& e) {
    if (error_.offer(e)) scope_.cancel(e);
  }

  void enter() noexcept {
    running_.add(1);
    members_.enter();
  }
  void leave() noexcept {
    if (limit_ != nullptr) (void)limit_.try_recv();
    members_.leave();
    running_.done();
  }

  cancelable scope_;
  chan<> limit_{nullptr};  // a value for each goroutine that runs
  wait_group running_;
  detail::head_count members_;
  detail::first_error error_;
};

}  // namespace v0
}  // namespace vole
