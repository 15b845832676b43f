// include/vole/go.h: from the public names to the rooms.

#include <vole/go.h>

#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include <vole/errors.h>

#include "base/note.h"
#include "base/race.h"
#include "os/os.h"
#include "root/root.h"
#include "sched/run/boot.h"
#include "sched/report/captured.h"
#include "sched/report/crash.h"
#include "sched/report/thrown.h"
#include "sched/life/exit.h"
#include "sched/park.h"
#include "sched/life/spawn.h"

namespace vole {
inline namespace v0 {
namespace detail {

struct join_places {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  static_assert(offsetof(join_base, finished_) == rt::kJoinedAt);
#pragma GCC diagnostic pop
};

}  // namespace detail
namespace {

static_assert(detail::kInlineCallable == rt::kInlineCallable);

// Nothing calls the root: this alone brings it into a program that links the library statically.
[[gnu::used]] constinit const root::table* const kRoot = &vole_root;

// Out of line, as it is seldom needed: its strings would cost every spawn a larger frame.
[[gnu::noinline]] std::uint32_t checked_stack_size(std::size_t asked) {
  if (asked < rt::depot::kMinStackSize || asked > rt::depot::kMaxStackSize)
    throw std::invalid_argument("vole::go: stack_size must be from 16 KiB to 1 GiB, not " +
                                std::to_string(asked));
  return static_cast<std::uint32_t>(rt::depot::round_size(asked));
}

rt::spawn_options spawn_options_of(const detail::spawn_request& r) {
  return {r.name, r.stack_size != 0 ? checked_stack_size(r.stack_size) : 0};
}

[[gnu::noinline]] void spawn_with_options(const detail::spawn_request& r, void* created_at,
                                         const void* callable, std::size_t bytes) {
  rt::spawn_with_options({r.invoke, r.abandon}, created_at, spawn_options_of(r), callable, bytes);
}

rt::crash::origin origin_of(const detail::thrower* t) noexcept {
  if (t == nullptr) return {};
  return {t->id, t->created_at, t->name, t->frames, t->n};
}

}  // namespace

namespace detail {

void* begin_spawn(const spawn_request& r) {
  void* const created_at = __builtin_return_address(0);
  return rt::new_g({r.invoke, r.abandon}, created_at, spawn_options_of(r))->callable;
}
void finish_spawn(void* callable) noexcept { rt::publish_g(rt::owner_of_callable(callable)); }
void cancel_spawn(void* callable) noexcept { rt::discard_g(rt::owner_of_callable(callable)); }
void spawn_bytes(const spawn_request& r, const void* callable, std::size_t bytes) {
  void* const created_at = __builtin_return_address(0);
  if (r.stack_size != 0 || r.name != nullptr) [[unlikely]]
    return spawn_with_options(r, created_at, callable, bytes);
  rt::spawn_trivial({r.invoke, r.abandon}, created_at, callable, bytes);
}

void run_main(void (*body)(void*), void* arg) {
  rt::boot::refuse_forked_child();
  if (rt::on_goroutine())
    throw std::logic_error("vole::run: called on a goroutine; use vole::go or vole::spawn");
  if (!rt::boot::begin_run())
    throw std::logic_error("vole::run: another thread is in vole::run already");
  struct main_frame {
    void (*body)(void*);
    void* arg;
    base::note finished;
  } frame{body, arg, {}};
  main_frame* const f = &frame;
  // Main never leaves the runtime again: it parks for good, and the commit tells us. Were it still
  // on its way in, the end would take it for one that is busy in user code.
  start_goroutine("main", 0, [f] {
    rt::boot::main_runs(true);
    f->body(f->arg);
    rt::end_locals();
    base::race::release(f);
    rt::enter();
    rt::park(
        [](rt::G*, void* to) noexcept {
          rt::boot::main_runs(false);
          static_cast<main_frame*>(to)->finished.wake();
          return true;
        },
        f, rt::wait_reason::none);
  });
  frame.finished.sleep();
  base::race::acquire(f);
  rt::boot::end_run();
}

bool unwinding() noexcept { return std::uncaught_exceptions() > 0 || rt::is_exiting(); }

std::unique_ptr<thrower> this_thrower() noexcept {
  std::unique_ptr<thrower> t(new (std::nothrow) thrower);
  if (t == nullptr) return t;
  const rt::crash::origin o = rt::crash::this_origin();
  t->id = o.id;
  t->created_at = o.created_at;
  o.name.copy(t->name, sizeof(t->name) - 1);
  t->n = rt::thrown::take(t->frames, thrower::kFrames);
  return t;
}

void rethrow_from(const std::exception_ptr& error, const thrower* by) {
  if (by != nullptr) rt::thrown::hand_on(error, by->frames, by->n);
  std::rethrow_exception(error);
}

// Ends the program with the exception in hand, so that the last words can name it.
void uncollected(const std::exception_ptr& error, const thrower* by) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    rt::crash::tell_uncollected(origin_of(by));
    std::terminate();
  }
}

rethrowing::rethrowing(const thrower* by) noexcept {
  rt::crash::begin_rethrow(origin_of(by));
}
rethrowing::~rethrowing() { rt::crash::end_rethrow(); }

void throw_nothing_to_join() { throw std::logic_error("vole::join_handle: nothing to join"); }

void throw_no_result(outcome why) {
  if (why == outcome::exited)
    throw std::system_error(make_error_code(errc::goroutine_exited), "vole::join_handle::join");
  throw std::system_error(make_error_code(errc::canceled), "vole::join_handle::join");
}

}  // namespace detail

void yield() noexcept {
  if (!rt::on_goroutine()) return os::yield_thread();
  rt::yield_now();
}

void exit_goroutine() {
  if (!rt::on_goroutine())
    throw std::logic_error("vole::exit_goroutine: not on a goroutine");
  rt::unwind_and_exit();
}

}  // namespace v0
}  // namespace vole
