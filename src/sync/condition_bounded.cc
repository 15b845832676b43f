// condition_variable: a wait that a context may end.
//
// Law    as in condition_variable.cc: a waiter is claimed by a notify or by the context. One that the
//        context has claimed stays in the queue until the context has taken it off; the destructor
//        waits for that.

#include "sync/bounded.h"
#include "sync/condition.h"
#include "sync/mutex.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

// False: the context was cancelled first.
bool wait_interruptibly(waitable& s, waitable& mutex, rt::interrupter& by) noexcept {
  rt::interruptible_wait wait(&by, &s, &unlink_waiter);
  const bool parks = rt::on_goroutine();
  M* const m = parks ? condition_enter(mutex) : nullptr;
  if (!parks) rt::guest_enter();
  lock(s);
  const bool waits = wait.arm(m);
  if (waits) condition_queue_locked(s, &wait.self, mutex);
  if (waits && parks) {
    m->curg->wait.slot = &mutex;  // for the commit
    return wait.end(rt::park(&condition_unlock_both, &s, rt::wait_reason::condition_variable));
  }
  unlock(s);
  mutex_unlock_inside(mutex, m);
  parks ? rt::leave(m) : rt::guest_leave();
  return waits && wait.end(wait.sleep());
}

}  // namespace

bool condition_wait_unless(waitable& s, waitable& held_mutex, const context& ctx,
                           std::error_code& error) noexcept {
  return with_context(
      ctx, error, [&] { condition_wait(s, held_mutex, nullptr); },
      [&](rt::interrupter& by) { return wait_interruptibly(s, held_mutex, by); });
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
