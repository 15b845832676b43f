// group: goroutines that work on one task, and end together.
#pragma once

#include <cxxabi.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <vole/chan.h>
#include <vole/context.h>
#include <vole/detail/go_options.h>
#include <vole/detail/group_state.h>
#include <vole/detail/spawn.h>
#include <vole/detail/thrower.h>
#include <vole/wait_group.h>

#pragma GCC visibility push(default)
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
  template <detail::dying_context C>
  explicit group(C&& its_cancel_function_is_gone) = delete;
  group(const group&) = delete;
  group& operator=(const group&) = delete;
  ~group() {
    scope_.cancel();
    running_.wait();
  }

  const vole::context& context() const noexcept { return scope_.ctx; }

  // fn(args...) on a new goroutine of the group; copied or moved, as by vole::go. At the limit it
  // waits until another one has ended.
  template <class F, class... Args>
    requires detail::startable<F, Args...>
  [[gnu::always_inline]] inline void go(F&& fn, Args&&... args) {
    take_place();
    start(nullptr, 0, std::forward<F>(fn), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
    requires detail::startable<F, Args...>
  [[gnu::always_inline]] inline void go(const go_options& options, F&& fn, Args&&... args) {
    take_place();
    start(detail::name_of(options), options.stack_size, std::forward<F>(fn),
          std::forward<Args>(args)...);
  }
  // A mistake. The compiler shows the line with the name.
  template <class F, class... Args>
    requires detail::not_startable<F, Args...>
  void go(F&&, Args&&...) = delete;  // group::go: the function cannot be called with copies of these arguments
  // The same, but false, and nothing is started, at the limit.
  template <class F, class... Args>
    requires detail::startable<F, Args...>
  [[nodiscard, gnu::always_inline]] inline bool try_go(F&& fn, Args&&... args) {
    if (!try_take_place()) return false;
    start(nullptr, 0, std::forward<F>(fn), std::forward<Args>(args)...);
    return true;
  }
  template <class F, class... Args>
    requires detail::startable<F, Args...>
  [[nodiscard, gnu::always_inline]] inline bool try_go(const go_options& options, F&& fn,
                                                       Args&&... args) {
    if (!try_take_place()) return false;
    start(detail::name_of(options), options.stack_size, std::forward<F>(fn),
          std::forward<Args>(args)...);
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
    conclude();
  }
  // Until that context is cancelled at the latest: then std::system_error with its err(), which the
  // twin puts into `error`, and returns false. So it is, too, if it was cancelled before. The group
  // goes on; wait() again.
  void wait(const vole::context& ctx) {
    running_.wait(ctx);
    conclude();
  }
  bool wait(const vole::context& ctx, std::error_code& error) {
    if (!running_.wait(ctx, error)) return false;
    conclude();
    return true;
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
        std::invoke(*std::move(fn));
      } catch (abi::__forced_unwind&) {
        throw;  // exit_goroutine(): no error
      } catch (detail::throw_probe&) {
        // never: it only looks
      } catch (...) {
        mine->fail(std::current_exception(), detail::this_thrower());
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

  template <class F, class... Args>
  [[gnu::always_inline]] inline void start(const char* name, std::size_t stack_size, F&& fn,
                                           Args&&... args) {
    using call = detail::call_t<F, Args...>;
    try {
      detail::start_goroutine(
          name, stack_size,
          member<call>{this, std::optional<call>(std::in_place, std::forward<F>(fn),
                                                 std::forward<Args>(args)...)});
    } catch (...) {
      leave();
      throw;
    }
  }

  void conclude() {
    scope_.cancel();
    error_.rethrow();
  }

  void fail(const std::exception_ptr& e, std::unique_ptr<detail::thrower> by) {
    if (error_.offer(e, std::move(by))) scope_.cancel(e);
  }

  void take_place() {
    enter();  // first: wait() waits for us, too
    if (limit_ != nullptr) limit_.send();
  }
  bool try_take_place() {
    if (limit_ != nullptr && limit_.try_send() != chan_status::ok) return false;
    enter();
    return true;
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
#pragma GCC visibility pop
