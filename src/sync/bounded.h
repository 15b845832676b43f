// A wait that a clock or a context may end, for objects that hand over what is waited for.
//
// Who    semaphore.cc, shared_mutex.cc, countdown.h, barrier.cc; on any goroutine or plain thread.
//        mutex.cc has its own, since a goroutine that is woken there may have to wait again.
// Law    every waker of such an object claims the waiters it takes off (gmp/waiter.h): the clock or
//        the context may have been first.
// Law    a wait that gives up without having queued leaves `waiting` as the lists say.
#pragma once

#include <system_error>

#include <vole/context.h>
#include <vole/detail/context_node.h>

#include "os/os.h"
#include "sched/wait/interrupt.h"
#include "sync/waitable.h"

namespace vole {
inline namespace v0 {
namespace detail {

// Describes the object that is waited for. Object is its own type, derived from waitable.
//   bool take_locked(Object&)           true: ours. False: queue, and `waiting` is set
//   void queue_locked(Object&, waiter*)
//   bool anybody_waits(const Object&)   locked
//   given_up(word, any)                 the word, if we did not queue after all; any: somebody has
//   unlink, why
template <class What, class Object>
bool wait_until_as_guest(const What& what, Object& s, std::int64_t when) noexcept {
  guest_waiter guest(&s, What::unlink);
  guest.self.winner = &guest.winner;
  rt::guest_enter();
  lock(s);
  const bool taken = what.take_locked(s);
  if (!taken) what.queue_locked(s, &guest.self);
  unlock(s);
  rt::guest_leave();
  return taken || rt::guest_sleep_until(guest.self, &s, guest.winner, when) != rt::kTimedOut;
}

// False: the time came first.
template <class What, class Object>
bool wait_until(const What& what, Object& s, std::int64_t when) noexcept {
  if (when <= os::now_ns()) return false;
  if (!rt::on_goroutine()) return wait_until_as_guest(what, s, when);
  M* const m = rt::enter();
  lock(s);
  if (what.take_locked(s)) {
    unlock(s);
    rt::leave(m);
    return true;
  }
  waiter* const w = rt::self(m, &s, What::unlink);
  what.queue_locked(s, w);
  rt::timeout clock;
  rt::arm(clock, w, when);
  return in_time(clock, rt::park(&unlock_after_switch, &s, What::why));
}

// False: the context was cancelled first.
template <class What, class Object>
bool wait_interruptibly(const What& what, Object& s, rt::interrupter& by) noexcept {
  rt::interruptible_wait wait(&by, &s, What::unlink);
  const bool parks = rt::on_goroutine();
  M* const m = parks ? rt::enter() : nullptr;
  if (!parks) rt::guest_enter();
  lock(s);
  const bool taken = what.take_locked(s);
  const bool waits = !taken && wait.arm(m);
  if (waits) what.queue_locked(s, &wait.self);
  if (waits && parks) return wait.end(rt::park(&unlock_after_switch, &s, What::why));
  unlock(s, [taken, any = what.anybody_waits(s)](std::uint64_t word) {
    return taken ? word : What::given_up(word, any);
  });
  parks ? rt::leave(m) : rt::guest_leave();
  return waits ? wait.end(wait.sleep()) : taken;
}

// for_ever() if the context is never cancelled, else wait(interrupter&). False: it was cancelled.
template <class ForEver, class Wait>
bool with_context(const context& ctx, std::error_code& error, ForEver for_ever,
                  Wait wait) noexcept {
  rt::interrupter* const by = interrupter_of(access::node(ctx));
  if (by == nullptr) {
    for_ever();
    return true;
  }
  if (wait(*by)) return true;
  error = ctx.err();
  return false;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
