// A wait that a context may end.
//
// Who    semaphore.cc, shared_mutex.cc, countdown.h, barrier.cc, condition_bounded.cc; on any goroutine
//        or plain thread. mutex_bounded.cc has its own, since who is woken there may have to wait again.
// Law    every waker of such an object claims the waiters it takes off (gmp/waiter.h): the context
//        may have been first.
// Law    a wait that gives up without having queued leaves `waiting` as the lists say.
#pragma once

#include <system_error>

#include <vole/context.h>
#include <vole/detail/context_node.h>

#include "sched/wait/interrupt.h"
#include "sync/waiting.h"

namespace vole {
inline namespace v0 {
namespace detail {

// What it was told; kCanceled: the context was cancelled first.
template <class What, class Object>
std::uintptr_t wait_interruptibly(What what, Object& s, rt::interrupter& by) noexcept {
  rt::interruptible_wait wait(&by, &s, What::unlink);
  M* const m = what.enter(rt::this_m());
  lock(s);
  const bool taken = what.take_locked(s);
  if (taken || !wait.arm(m)) {
    what.unlock(s, m, [taken, any = what.anybody_waits(s)](std::uint64_t word) {
      return taken ? word : What::given_up(word, any);
    });
    rt::leave_either(m);
    return taken ? what.at_once : rt::kCanceled;
  }
  what.queue_locked(s, &wait.self);
  const std::uintptr_t told = wait.sleep(m, letting_go{what, s}, What::why);
  return wait.end(told) ? told : rt::kCanceled;
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

// Waits for that object. False: the context was cancelled first.
template <class What, class Object>
bool came_before(What what, Object& s, const context& ctx, std::error_code& error) noexcept {
  return with_context(
      ctx, error, [&] { wait_for(what, s); },
      [&](rt::interrupter& by) { return wait_interruptibly(what, s, by) != rt::kCanceled; });
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
