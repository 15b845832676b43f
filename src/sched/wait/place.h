// Whoever waits: a goroutine, which parks, or a plain thread, which sleeps. Here, and nowhere upstairs,
// the two are told apart; a clock is the third that may end a wait (deadline.h).
//
//     place mine;
//     M* m = enter_either();                     null: a plain thread, which is a guest
//     lock the object
//     nothing to wait for? unlock, leave_either(m)
//     queue mine.self(m, &object, &unlink)
//     return mine.sleep(m, by_commit{...}, why)  parks, and the commit unlocks; or unlocks, leaves, sleeps
//
// Who    chan, sync, net, time; on any thread.
// Where  a place lies in the frame of who waits. It serves one wait.
// Law    a goroutine's waiter lies in its G, and a plain thread's in its place: so a place stays until
//        its wait is over.
// Law    sleep() begins inside the runtime and ends outside of it.
// Note   a path that ends with the park, and is returned through by nobody, calls park() by itself, once
//        it knows that it is on a goroutine: a send, a receive, a wait for ever in sync.
// Proof  tests/model: the models of chan, sync and net have this file as it is shipped
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "sched/park.h"
#include "sched/wait/deadline.h"

namespace vole::rt {

// Into the runtime, on any thread; me: this_m(). Null: as a guest. `runs`: there is a runtime.
inline M* enter_as(M* me, bool& runs) noexcept {
  runs = true;
  if (me == nullptr) [[unlikely]] {
    runs = guest_enter();
    return nullptr;
  }
  M* const m = try_enter(me) ? me : reenter();
  if (m == nullptr) __builtin_unreachable();  // so that the code for guests goes
  return m;
}
inline M* enter_as(M* me) noexcept {
  bool runs;
  return enter_as(me, runs);
}
inline M* enter_either() noexcept { return enter_as(this_m()); }
inline bool try_leave_either(M* m) noexcept {  // false: attend() is still to be called
  if (m != nullptr) return try_leave(m);
  guest_leave();
  return true;
}
inline void leave_either(M* m) noexcept { m != nullptr ? leave(m) : guest_leave(); }

// Calls f(M*) inside the runtime; M is null for a guest.
template <class F>
inline auto inside(F&& f) noexcept {
  M* const m = enter_either();
  if constexpr (std::is_void_v<decltype(f(m))>) {
    f(m);
    leave_either(m);
  } else {
    const auto result = f(m);
    leave_either(m);
    return result;
  }
}

// Two ways to let go of an object and to wait: a goroutine parks, and this is what is done when its
// context is saved; a plain thread does it and sleeps. False: it is not to sleep after all.
struct by_commit {
  commit_fn commit;  // without a G: for a plain thread
  void* arg;
  std::uintptr_t park(wait_reason why) const noexcept { return rt::park(commit, arg, why); }
  bool on_thread() const noexcept { return commit(nullptr, arg); }
};
struct by_freeing {
  atomic<std::uint32_t>* word;  // of base/biased_lock.h
  std::uintptr_t park(wait_reason why) const noexcept { return park_freeing(word, why); }
  bool on_thread() const noexcept {
    biased_lock<lock_rank::object>::free(word);
    return true;
  }
};

// Inside. Lets go, and sleeps; m is null: on that note, until `when`. Then given_up() is called, outside,
// which says false if somebody else has ended the wait. What it was told; kTimedOut: it gave up.
// On a goroutine it has no clock but those that were armed (deadline.h).
template <class How, class GivenUp>
std::uintptr_t sleep_until(M* m, How how, guest_note& note, wait_reason why, std::int64_t when,
                           GivenUp given_up) noexcept {
  if (m != nullptr) return how.park(why);
  const bool sleeps = how.on_thread();
  guest_leave();
  if (!sleeps) return 0;
  return sleeps_until(note, when) || !given_up() ? note.sleep() : kTimedOut;
}
template <class How>
std::uintptr_t sleep(M* m, How how, guest_note& note, wait_reason why) noexcept {
  return sleep_until(m, how, note, why, kNoTimer, [] { return false; });
}

class place {
 public:
  place() noexcept {
    if (G* const g = this_goroutine()) {
      waiter_ = &g->wait;
    } else {
      thread_part* const t = ::new (static_cast<void*>(&on_thread_)) thread_part;
      t->waiter.thread = &t->note;
      waiter_ = &t->waiter;
    }
  }
  ~place() {
    if (note() != nullptr) std::destroy_at(&on_thread_);
  }
  place(const place&) = delete;
  place& operator=(const place&) = delete;

  // Whoever waits here. Its goroutine's, or its own.
  waiter& whose() noexcept { return *waiter_; }
  // Of a plain thread; for waiters of one wait that lie elsewhere.
  guest_note* note() noexcept { return waiter_ == &on_thread_.waiter ? &on_thread_.note : nullptr; }

  // Inside: the waiter, filled in.
  waiter* self(M* m, void* object, void (*unlink)(void*, waiter*) noexcept) noexcept {
    if (m != nullptr) return rt::self(m, object, unlink);
    waiter_->object = object;
    waiter_->unlink = unlink;
    return waiter_;
  }

  // Inside; outside, when it returns what it was told.
  template <class How>
  std::uintptr_t sleep(M* m, How how, wait_reason why) noexcept {
    return rt::sleep(m, how, on_thread_.note, why);
  }
  template <class How, class GivenUp>
  std::uintptr_t sleep_until(M* m, How how, wait_reason why, std::int64_t when,
                             GivenUp given_up) noexcept {
    return rt::sleep_until(m, how, on_thread_.note, why, when, given_up);
  }
  // With a clock that was armed, or not. kTimedOut: it came first, and the waiter is off its queue. Else
  // the clock may be armed still.
  template <class How>
  std::uintptr_t sleep_armed(M* m, How how, wait_reason why, deadline& t) noexcept {
    return sleep_until(m, how, why, t.when, [&t] { return expire_on_thread(t); });
  }
  // The same, and nothing is armed any more.
  template <class How>
  std::uintptr_t sleep_in_time(M* m, How how, wait_reason why, deadline& t) noexcept {
    const std::uintptr_t told = sleep_armed(m, how, why, t);
    if (m == nullptr || told == kTimedOut) return told;
    inside([&t](M* now) { disarm(t, now); });
    return told;
  }

 private:
  struct thread_part {
    guest_note note;
    rt::waiter waiter;
  };

  waiter* waiter_;
  union {
    thread_part on_thread_;  // made on a plain thread only
  };
};

}  // namespace vole::rt
