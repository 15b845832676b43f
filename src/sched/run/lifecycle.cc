#include "sched/run/lifecycle.h"

#include "base/atomic.h"
#include "base/fatal.h"
#include "os/os.h"
#include "poll/poll.h"
#include "sched/life/enter.h"
#include "sched/state.h"
#include "sched/hold/strict.h"
#include "sched/life/value_move.h"
#include "trace/house.h"

namespace vole::rt {
namespace lifecycle {
namespace {

constinit atomic<std::uint32_t> word{static_cast<std::uint32_t>(phase::stopped)};
constinit atomic<std::uint32_t> guests{0};
// A guest that runs user code inside (a copy constructor, between the steps of a spawn) may come in
// again. Plain threads only, so an ordinary thread_local does; initial-exec, since signal handlers
// read it.
[[gnu::tls_model("initial-exec")]] constinit thread_local int depth = 0;

void count_out() noexcept {
  if (guests.fetch_sub(1, seq_cst) == 1 && now() == phase::stopping) futex_wake(&guests, 1);
}

// In the child only this thread exists; locks and queues are as they happened to be. An M's P is
// hidden, so that its next entry comes to refuse_forked_child.
void in_forked_child() noexcept {
  strict::after_fork();
  trace::in_forked_child();
  base::forget_dying_threads();
  if (now() == phase::stopped) return poll::start_again_in_child();
  word.store(static_cast<std::uint32_t>(phase::forked), seq_cst);
  if (M* const m = this_m()) {
    m->hot.p.store(nullptr, relaxed);
    m->hot.attention.store(0, relaxed);
  }
}

}  // namespace

phase now() noexcept { return static_cast<phase>(word.load(seq_cst)); }

void set(phase p) noexcept {
  word.store(static_cast<std::uint32_t>(p), seq_cst);
  futex_wake(&word, 1 << 30);
}

void wait_for_guests() noexcept {
  for (;;) {
    const std::uint32_t n = guests.load(seq_cst);
    if (n == 0) return;
    futex_wait(&guests, n);
  }
}

void watch_forks() noexcept {
  static constexpr os::fork_hooks kHooks{&strict::before_fork, &strict::after_fork,
                                         &in_forked_child};
  static constinit atomic<bool> watched{false};
  if (!watched.load(relaxed) && !watched.exchange(true, seq_cst)) os::on_fork(&kHooks);
}

bool is_guest() noexcept { return depth != 0; }

bool visit() noexcept {
  guests.fetch_add(1, seq_cst);
  if (now() == phase::running) return true;
  count_out();
  return false;
}

void end_visit() noexcept { count_out(); }

void refuse_forked_child() noexcept {
  if (now() == phase::forked)
    fatal(
        "vole was called in a forked child, whose runtime's threads exist in the parent only. "
        "After fork call nothing but exec or _exit, or fork while no runtime runs");
}

bool is_zombie() noexcept {
  M* const m = this_m();
  if (m == nullptr) return false;
  const strict::undisturbed here;
  holding hold(m->retake_lock);
  return m->zombie;
}

}  // namespace lifecycle

bool guest_enter() noexcept {
  using namespace lifecycle;
  refuse_in_value_move();
  if (depth++ != 0) return now() != phase::stopped;
  for (;;) {
    guests.fetch_add(1, seq_cst);
    const phase p = now();
    if (p == phase::running) return true;
    if (p == phase::stopped) return false;
    lifecycle::refuse_forked_child();
    count_out();
    futex_wait(&word, static_cast<std::uint32_t>(phase::stopping));
  }
}

void guest_leave() noexcept {
  if (--lifecycle::depth == 0) lifecycle::count_out();
}

}  // namespace vole::rt
