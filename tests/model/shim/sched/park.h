// The twin of src/sched/park.h: the stair door, for plain threads and for goroutines.
//
// A goroutine is a model thread of its own, and has Ms: daemons that run its commits.
// To park is to let an M go on and to wait; the M saves the context (a var) and runs
// the commit, and meanwhile whoever finds the waiter wakes the goroutine. So it may
// run on, and even park again on another M, before its commit has ended.
//
// Who    the models of rooms upstairs, which are checked as they are shipped.
// Law    a waker finds the goroutine's context saved (I11 of docs/design/0003-wake-ups.md),
//        and wakes it once.
// Note   a goroutine that parks while all its Ms are in commits waits for one of them:
//        give it as many as it can need. A thread that runs no goroutine is a plain thread.
// Note   wake(), and expire_on_thread() and sleeps_until() (deadline.h), are copies of the shipped ones.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "base/atomic.h"
#include "base/biased_lock.h"
#include "base/fatal.h"
#include "base/rand.h"
#include "explore.h"
#include "gmp/wait_reason.h"
#include "gmp/waiter.h"

namespace vole::rt {

using commit_fn = bool (*)(G*, void*) noexcept;

struct M {
  G* curg = nullptr;
  base::rand_state random{1};
  base::presence presence;
};

struct G {
  struct {
    std::byte* lo = nullptr;
  } stack;
  waiter wait;
  model::mutex asleep;   // free: it may go on
  model::mutex no_work;  // of its Ms; free: there is a commit
  model::var<bool> saved{false};
  commit_fn commit = nullptr;
  void* arg = nullptr;
  std::uintptr_t wake_value = 0;
  bool mortal = false;  // the runtime may end before it goes on
};

inline M* running[8];  // by the number of the thread

}  // namespace vole::rt

namespace vole::arch {

inline rt::M* this_m() noexcept { return rt::running[model::self()]; }

}  // namespace vole::arch

namespace vole::rt {

// Made by a program's constructor.
class goroutine {
 public:
  goroutine(const char* name, int commits_at_once, std::function<void()> body,
            bool daemon = false) {
    g_.asleep.lock();
    g_.no_work.lock();
    carry(daemon ? model::spawn_daemon(name, std::move(body))
                 : model::spawn(name, std::move(body)));
    for (int i = 0; i < commits_at_once; ++i)
      carry(model::spawn_daemon("its M", [this] { run_commits(); }));
  }
  ~goroutine() {
    for (M*& m : running)
      if (m == &m_) m = nullptr;
  }
  goroutine(const goroutine&) = delete;
  goroutine& operator=(const goroutine&) = delete;

  // Woken, it may find itself abandoned with the runtime instead: the ender lets go of what it
  // was woken for, and it never goes on. Must be a daemon.
  void may_be_abandoned() noexcept { g_.mortal = true; }

 private:
  void carry(int thread) noexcept {
    m_.curg = &g_;
    running[thread] = &m_;
  }
  void run_commits() {
    for (;;) {
      g_.no_work.lock();
      g_.saved = true;
      g_.commit(&g_, g_.arg);
    }
  }
  G g_;
  M m_;
};

inline bool on_goroutine() noexcept { return arch::this_m() != nullptr; }
inline G* this_goroutine() noexcept {
  const M* const m = arch::this_m();
  return m != nullptr ? m->curg : nullptr;
}
inline bool guest_enter() noexcept { return true; }
inline void guest_leave() noexcept {}
inline void guest_enter_anywhere() noexcept {}
inline void checkpoint() noexcept {}
inline bool is_asked(const M*) noexcept { return false; }
inline void yield_now() noexcept {}

using arch::this_m;
inline void refuse_forked_child() noexcept {}
inline bool is_forked_child() noexcept { return false; }
inline void watch_forks() noexcept {}
inline bool visit_at_end() noexcept { return true; }
inline void end_visit() noexcept {}
struct undisturbed {
  undisturbed() noexcept {}
  ~undisturbed() {}
};

inline M* enter() noexcept { return arch::this_m(); }
inline M* reenter() noexcept { return arch::this_m(); }
inline bool try_enter(M*) noexcept { return true; }
inline void leave(M*) noexcept {}
inline bool may_enter_briefly(M* m) noexcept { return m != nullptr; }
inline bool may_enter_unasked(M* m) noexcept { return m != nullptr; }
inline M* enter_briefly(M* m) noexcept { return m; }
inline bool seems_without_p() noexcept { return arch::this_m() == nullptr; }
inline bool try_leave(M*) noexcept { return true; }
inline void attend() noexcept {}
inline void leave_in_place(M*) noexcept {}
inline waiter* self(M* m, void* object, void (*unlink)(void*, waiter*) noexcept) noexcept {
  waiter* const w = &m->curg->wait;
  w->g = m->curg;
  w->object = object;
  w->unlink = unlink;
  w->winner = nullptr;
  return w;
}
inline std::uintptr_t park(commit_fn commit, void* arg, wait_reason) noexcept {
  G& g = *this_goroutine();
  g.commit = commit;
  g.arg = arg;
  g.no_work.unlock();
  g.asleep.lock();
  if (g.mortal && model::choose(2) == 1) {
    if (g.wait.object != nullptr) g.wait.unlink(g.wait.object, &g.wait);
    g.asleep.lock();
  }
  return g.wake_value;
}

inline std::uintptr_t park_freeing(base::atomic<std::uint32_t>* by, wait_reason why) noexcept {
  constexpr commit_fn free = [](G*, void* word) noexcept {
    using object_lock = base::biased_lock<base::lock_rank::object>;
    object_lock::free(static_cast<base::atomic<std::uint32_t>*>(word));
    return true;
  };
  return park(free, by, why);
}
inline base::presence& presence_of(M* m) noexcept { return m->presence; }
inline base::presence* presence_if_any(M* m) noexcept { return m != nullptr ? &m->presence : nullptr; }
inline base::presence* presence_inside() noexcept { return presence_if_any(arch::this_m()); }

inline void wake(M*, waiter* w, std::uintptr_t value = 0) noexcept {
  if (w->g == nullptr) {
    w->thread->value = value;
    return w->thread->woken.wake();
  }
  G& g = *w->g;
  model::require(g.saved.get(), "a goroutine was woken before its context was saved");
  g.saved = false;
  g.wake_value = value;
  g.asleep.unlock();
}

// Shipped, it wakes in batches; one by one is one of the orders in which those come.
class waking {
 public:
  explicit waking(M* m) noexcept : m_(m) {}
  void add(waiter* w, std::uintptr_t value) noexcept { wake(m_, w, value); }

 private:
  M* const m_;
};

inline bool try_wake_next(M* m, waiter* w, std::uintptr_t value) noexcept {
  if (w->g == nullptr) return false;
  wake(m, w, value);
  return true;
}

}  // namespace vole::rt
