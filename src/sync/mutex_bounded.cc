// mutex: waits that a clock or a context may end.
//
// Law    a goroutine that was woken to compete does so before it can be abandoned, or its waiter says
//        that the next in the queue is to compete instead (mutex.cc, pass_on). So it does not leave the
//        runtime between the wake and the attempt: it stops the clock, or takes the wait out of the
//        context's list, before it leaves again.
// Proof  tests/stress/sync_context_stress_test.cc

#include "os/os.h"
#include "sync/bounded.h"
#include "sync/mutex.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

void lock_for_ever(waitable& s) noexcept {
  mutex_attempt mine;
  while (mutex_lock_slow(s, mine) == kCompete) {
  }
}

// Lets go of the mutex's own lock (sched/wait/place.h).
rt::by_commit unlocking_of(waitable& s) noexcept { return {&unlock_after_switch, &s}; }

bool lock_until(waitable& s, std::int64_t when) noexcept {
  mutex_attempt mine;
  for (M* m = rt::enter_either();;) {
    rt::place here;
    lock(s);
    if (mutex_take_locked(s, mine)) {
      unlock(s);
      rt::leave_either(m);
      return true;
    }
    waiter* const w = here.self(m, &s, &unlink_waiter);
    mutex_queue_locked(s, mine, w);
    rt::deadline clock;
    rt::arm(clock, m, w, when);
    const std::uintptr_t told = here.sleep_armed(m, unlocking_of(s), rt::wait_reason::mutex, clock);
    if (told == rt::kTimedOut) return false;
    m = rt::enter_either();
    w->object = nullptr;
    rt::disarm(clock, m);
    if (told == kOwner) {
      rt::leave_either(m);
      return true;
    }
  }
}

// Locked. True: it is ours, or there is no use in waiting; then both locks are as they should be.
// False: queued.
bool settle_locked(waitable& s, mutex_attempt& mine, rt::interruptible_wait& wait, M* m,
                   bool& ours) noexcept {
  ours = mutex_take_locked(s, mine);
  if (!ours && wait.arm(m)) {
    mutex_queue_locked(s, mine, &wait.self);
    return false;
  }
  unlock(s, [ours, any = s.waiters.first != nullptr](std::uint64_t word) {
    return ours ? word : with_waiting(word, any);
  });
  return true;
}

bool lock_interruptibly(waitable& s, rt::interrupter& by) noexcept {
  mutex_attempt mine;
  for (M* m = rt::enter_either();;) {
    rt::interruptible_wait wait(&by, &s, &unlink_waiter);
    bool ours = false;
    lock(s);
    if (settle_locked(s, mine, wait, m, ours)) {
      rt::leave_either(m);
      return ours;
    }
    const std::uintptr_t told = wait.sleep(m, unlocking_of(s), rt::wait_reason::mutex);
    if (told == rt::kCanceled) return wait.end(told);
    m = rt::enter_either();
    wait.end_inside(m);
    if (told == kOwner) {
      rt::leave_either(m);
      return true;
    }
  }
}

}  // namespace

bool mutex_lock_until(waitable& s, std::int64_t when) noexcept {
  if (when == rt::kNoTimer) {
    lock_for_ever(s);
    return true;
  }
  return when > os::now_ns() && lock_until(s, when);
}

bool mutex_lock_unless(waitable& s, const context& ctx, std::error_code& error) noexcept {
  return with_context(
      ctx, error, [&] { lock_for_ever(s); },
      [&](rt::interrupter& by) { return lock_interruptibly(s, by); });
}

bool may_wait(const context& ctx, std::error_code& error) noexcept {
  error = ctx.err();
  return !error;
}

void throw_wait_ended(const char* what, const std::error_code& error) {
  throw std::system_error(error, what);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
