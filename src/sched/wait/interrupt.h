// A wait that a context may end: the object's waker and the context's cancellation compete for the
// waiter, and the first to claim it has it.
//
//     the waiter                            the canceller of the context
//     enter, lock the object                lock the context
//     nothing to wait for? unlock, leave      each interrupt is taken off the list and claims
//     arm; false: cancelled already             its waiter, or loses and is left alone
//     queue, park (the commit unlocks)      unlock the context
//     told kCanceled, or enter and disarm   for each claimed: unlink (locks the object), wake
//
// Who    upstairs: sync, net, time; goroutines and plain threads. Contexts implement interrupter
//        (time/interrupt.cc); detail::interrupter_of() of vole/detail/context_node.h finds one.
// Where  arm, disarm, claim, fire: inside the runtime.
// Law    the record lies in the waiter's frame. `claim` runs under the context's lock. If it says
//        false, that was the last touch of the record; if it says true, `fire` follows, with no
//        lock held, and the waiter stays where it is until fire has woken it. So when disarm has
//        returned, or the wait has ended with kCanceled, nobody else uses the record.
// Law    a waiter that arms holds a reference to the context until the wait is over. A linked interrupt
//        belongs to a live context, and a context is never freed live: so the end of the runtime may
//        take out a linked one, and must leave the others alone.
// Note   arm is called under the object's lock. fire takes that lock before it wakes, and a
//        parking goroutine holds it until its context is saved (I11).
// Note   order of locks: the object's, then the context's, both of rank object.
// Proof  src/time/interrupt_test.cc
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "gmp/m.h"
#include "gmp/waiter.h"
#include "sched/wait/place.h"

namespace vole::rt {

inline constexpr std::uintptr_t kCanceled = 3;  // beside kTimedOut of sched/wait/deadline.h

struct interrupt {
  // May take locks of a higher rank than object.
  bool (*claim)(interrupt& i, M* m) noexcept = nullptr;
  void (*fire)(interrupt& i, M* m) noexcept = nullptr;  // never called if claim never says true
  interrupt* next = nullptr;
  interrupt* prev = nullptr;
  bool linked = false;  // under the context's lock
};

// A context, as its waiters see it.
class interrupter {
 public:
  // claim and fire are set, and the caller holds no lock but that of one object. False: it is
  // cancelled already, and the record was not touched.
  virtual bool arm(interrupt& i) noexcept = 0;
  // True: taken out before it was claimed.
  virtual bool disarm(interrupt& i) noexcept = 0;

 protected:
  ~interrupter() = default;
};

// An interrupt that ends the wait of one waiter in one object's queue. The waiter lies here and
// not in the G: the G's own says how to take out both, the waiter and the interrupt, if the
// goroutine is abandoned, also after it was served and before it has called disarm.
//
//     M* m = enter_either(); lock
//     if (!wait.arm(m)) unlock, leave_either(m)
//     push_back(queue, &wait.self)
//     return wait.end(wait.sleep(m, by_commit{...}, why))
//
// Every waker of the object claims the waiters it takes off (wait_queue::pop_claimed, claim).
class interruptible_wait {
 public:
  using unlink_fn = void (*)(void* object, waiter* w) noexcept;

  // `unlink` takes the object's lock, as waiter::unlink.
  interruptible_wait(interrupter* by, void* object, unlink_fn unlink) noexcept;
  interruptible_wait(const interruptible_wait&) = delete;
  interruptible_wait& operator=(const interruptible_wait&) = delete;

  // Inside, under the object's lock, before the waiter is queued; m: null for a guest. False: the
  // context is cancelled; there is nothing to end.
  bool arm(M* m) noexcept;
  // As that of a place. Inside; outside, when it returns what it was told.
  template <class How>
  std::uintptr_t sleep(M* m, How how, wait_reason why) noexcept {
    return rt::sleep(m, how, note_, why);
  }
  // User context, after the sleep. False: the context ended the wait (told is kCanceled), and the
  // waiter is off its queue.
  bool end(std::uintptr_t told) noexcept;
  // The same for one that was served, not interrupted, and has entered already.
  void end_inside(M* m) noexcept;

  waiter self;

 private:
  struct link : interrupt {
    interruptible_wait* wait = nullptr;
  };
  static bool claim_waiter(interrupt& i, M* m) noexcept;
  static void wake_waiter(interrupt& i, M* m) noexcept;
  static void unlink_both(void* wait, waiter* whole) noexcept;

  interrupter* const by_;
  void* const object_;
  link link_;
  atomic<std::uint32_t> winner_{0};
  guest_note note_;
};

}  // namespace vole::rt
