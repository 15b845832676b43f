// The condition variable as it is shipped (src/sync/condition_variable.cc) on the checker,
// with the shipped mutex.
//
// Waiters draw tickets under the mutex. A notifier promises, under the mutex, whom it is
// about to wake: by notify_one the next in the order of tickets, by notify_all everybody.
// A stranger calls notify_one without ever having had the mutex.
//
// Law    who was promised a wake-up wakes, once, and nobody else does: no wake-up is lost on
//        the way from the mutex into the queue, no later waiter takes an earlier one's.
//        Awake, it has the mutex. A stop request ends one wait and takes no notify along.
//        A thread that was woken may destroy the condition variable.
// Note   waiters are daemons: finish() knows who may sleep on.
#include "public_atomics.h"

#include "sync/condition_variable.cc"
#include "sync/mutex.cc"
#include "sync/mutex_biased.cc"

#include <algorithm>
#include <optional>

#include <vole/condition_variable.h>

#include "destroyed.h"
#include "faulty_condition.h"
#include "mutants.h"

std::int64_t vole::os::now_ns() noexcept { return 1; }
void vole::os::yield_thread() noexcept { base::cpu_relax(); }

namespace vole::detail {
namespace {

static_assert(sizeof(mutex) == sizeof(mutex_waitable) && sizeof(condition_variable) == sizeof(waitable));

template <class Public>
waitable& inside_of(Public& object) noexcept {
  return *reinterpret_cast<waitable*>(&object);
}

// The public one; stop requests do not come through the standard's tokens, which know of no fibers.
class shipped_condition {
 public:
  void wait(waitable& held_mutex, condition_stop* stop) noexcept {
    condition_wait(state(), held_mutex, stop);
  }
  void notify(bool all) noexcept { all ? c_.notify_all() : c_.notify_one(); }
  waitable& state() noexcept { return inside_of(c_); }
  static constexpr bool kLocksAgain = true;

 private:
  condition_variable c_;
};

struct plan {
  int threads = 1, goroutines = 0;  // that wait
  int notifies = 1;
  bool all = false;
  bool held = false;  // the notifier holds the mutex
  int strangers = 0;
  bool destroys = false;  // the last promised waiter destroys the condition
};

struct weak {
  bool release = false, acquire = false, no_wake = false;
};

constexpr int kCommits = 2;  // a waiter may queue for the mutex while its commit still unlocks it
constexpr const char* kThreads[] = {"w1", "w2", "w3"};
constexpr const char* kGoroutines[] = {"g1", "g2"};

template <class Condition>
struct waiting {
  model::kept<mutex> m;
  model::kept<Condition> c;
  plan p;
  model::var<int> entered{0}, promised{0}, left{0};  // under m
  int woken[4] = {};                                 // by ticket; read in finish()
  std::optional<rt::goroutine> goroutines[2];

  explicit waiting(plan what, weak w = {}) : p(what), left(what.threads + what.goroutines) {
    const int word = model::atomic_in(*c);
    model::name(word, "condition");
    model::name(model::atomic_in(*m), "mutex");
    if (w.release) model::weaken(word, model::access::rmw, acquire);
    if (w.acquire) model::weaken(word, model::access::rmw, release);
    if (w.no_wake) model::drop(model::call::futex_wake);
    for (int i = 0; i < p.threads; ++i) model::spawn_daemon(kThreads[i], [this] { wait(); });
    for (int i = 0; i < p.goroutines; ++i)
      goroutines[i].emplace(
          kGoroutines[i], kCommits, [this] { wait(); }, true);
    model::spawn("notifier", [this] {
      for (int i = 0; i < p.notifies; ++i) notify();
    });
    if (p.strangers > 0) model::spawn("stranger", [this] { c->notify(false); });
  }

  void wait() {
    m->lock();
    const int ticket = entered.get();
    entered = ticket + 1;
    c->wait(inside_of(*m), nullptr);
    if (Condition::kLocksAgain) m->lock();
    ++woken[ticket];
    model::require(ticket < promised.get() + p.strangers || !exact(),
                   "woken by a notify that was not for it");
    left = left.get() - 1;
    const bool last = left.get() == 0;
    m->unlock();
    if (last && p.destroys) c.destroy();
  }
  void notify() {
    m->lock();
    const int before = promised.get(), here = entered.get();
    const int now = p.all ? here : std::min(before + 1, here);
    promised = now;
    if (p.held && now > before) c->notify(p.all);
    m->unlock();
    if (!p.held && now > before) c->notify(p.all);
  }
  // Without the mutex notify_all also wakes who comes meanwhile.
  bool exact() const { return p.held || !p.all; }

  void finish() {
    for (int ticket = 0; ticket < 4; ++ticket) {
      model::require(woken[ticket] <= 1, "woken twice");
      model::require(woken[ticket] == 1 || ticket >= promised.get(), "a wake-up is lost");
      model::require(ticket == 0 || woken[ticket] <= woken[ticket - 1], "woken out of turn");
    }
    model::require((inside_of(*m).word.load(relaxed) & wait_flag::all & ~kBiased) == 0,
                   "the mutex is not as new");
  }
};

// One waiter may be stopped, the other may not. `both`: one thread stops and notifies, in that
// order or the other, holding the mutex; else two threads do, whenever they like.
template <class Condition>
struct stopping {
  model::kept<mutex> m;
  model::kept<Condition> c;
  condition_stop stop{c->state()};
  model::var<int> entered{0};
  int oldest = 0;  // 1: the one that may be stopped. Under m, like what follows
  bool other_here = false;
  int notified = 0;
  int woken[2] = {};
  bool must = false, may = false;  // the other one wake up

  stopping(bool both, bool stop_first) {
    model::name(model::atomic_in(*c), "condition");
    model::name(model::atomic_in(*m), "mutex");
    model::spawn("stopped", [this] { wait(1, &stop); });
    model::spawn_daemon("other", [this] { wait(2, nullptr); });
    if (!both) {
      may = true;
      model::spawn("stopper", [this] { condition_stopped(stop); });
      model::spawn("notifier", [this] { notify(); });
      return;
    }
    model::spawn("both", [this, stop_first] {
      m->lock();
      must = may = stop_first ? other_here : oldest == 2;
      if (stop_first) condition_stopped(stop);
      c->notify(false);
      if (!stop_first) condition_stopped(stop);
      m->unlock();
    });
  }

  void wait(int who, condition_stop* with) {
    m->lock();
    if (entered.get() == 0) oldest = who;
    entered = entered.get() + 1;
    other_here |= who == 2;
    c->wait(inside_of(*m), with);
    m->lock();
    ++woken[who - 1];
    m->unlock();
  }
  void notify() {
    m->lock();
    m->unlock();
    c->notify(false);
  }
  void finish() {
    model::require(woken[0] == 1, "the stop is lost");
    model::require(woken[1] == 1 || !must, "the stop took a notify along");
    model::require(woken[1] == 0 || may, "woken by a stop that was not for it");
    const bool queued = c->state().waiters.first != nullptr;
    model::require(woken[1] == 1 || !other_here || queued, "fell out of the queue");
    model::require(((c->state().word.load(relaxed) & kWaiting) != 0) == queued,
                   "`waiting` is not what the queue says");
  }
};

using shipped = waiting<shipped_condition>;
constexpr model::options kBounded{.preemptions = 2, .seconds = 0.3};

TEST(Condition, NotifyOneWakesTheOldestWaiter) {
  model::holds<shipped>("condition: a thread waits", kBounded, plan{});
  model::holds<shipped>("condition: a thread waits, notified inside", kBounded, plan{.held = true});
  model::holds<shipped>("condition: a goroutine waits", kBounded,
                        plan{.threads = 0, .goroutines = 1});
  model::holds<shipped>("condition: 2 threads wait", kBounded, plan{.threads = 2});
  model::holds<shipped>("condition: 2 threads wait, 2 notifies inside", kBounded,
                        plan{.threads = 2, .notifies = 2, .held = true});
  model::holds<shipped>("condition: a thread, a goroutine, 2 notifies", kBounded,
                        plan{.threads = 1, .goroutines = 1, .notifies = 2});
  model::holds<shipped>("condition: a goroutine and a stranger", {},
                        plan{.threads = 0, .goroutines = 1, .notifies = 0, .strangers = 1});
  model::holds<shipped>("condition: a thread, a goroutine, a stranger", kBounded,
                        plan{.threads = 1, .goroutines = 1, .strangers = 1});
  model::holds<shipped>("condition: 2 goroutines wait, 2 notifies", {.random = 20'000},
                        plan{.threads = 0, .goroutines = 2, .notifies = 2});
  model::holds<shipped>("condition: 3 threads wait, 2 notifies", {.random = 20'000},
                        plan{.threads = 3, .notifies = 2});
}

TEST(Condition, NotifyAllWakesEverybody) {
  model::holds<shipped>("condition: all, 2 threads", kBounded, plan{.threads = 2, .all = true});
  model::holds<shipped>("condition: all, 2 threads, inside", kBounded,
                        plan{.threads = 2, .all = true, .held = true});
  model::holds<shipped>("condition: all, a thread, a goroutine", kBounded,
                        plan{.threads = 1, .goroutines = 1, .all = true});
  model::holds<shipped>("condition: all, 2 goroutines, inside", {.random = 20'000},
                        plan{.threads = 0, .goroutines = 2, .all = true, .held = true});
}

TEST(Condition, TheWokenMayDestroyIt) {
  model::holds<shipped>("condition: destroyed by a thread", {}, plan{.destroys = true});
  model::holds<shipped>("condition: destroyed by a goroutine", {},
                        plan{.threads = 0, .goroutines = 1, .destroys = true});
  model::holds<shipped>("condition: destroyed by the last of 2", kBounded,
                        plan{.threads = 2, .all = true, .destroys = true});
}

TEST(Condition, AStopTakesNoNotifyAlong) {
  using stopped = stopping<shipped_condition>;
  model::holds<stopped>("condition: stop and notify at once", kBounded, false, false);
  model::holds<stopped>("condition: stop, then notify", kBounded, true, true);
  model::holds<stopped>("condition: notify, then stop", kBounded, true, false);
}

template <fault F>
using faulty = waiting<faulty_condition<F>>;

TEST(Condition, MutantsAreCaught) {
  const model::options o{.seconds = 6};
  const plan one, two{.threads = 2},
      goroutine{.threads = 0, .goroutines = 1, .notifies = 0, .strangers = 1};
  const plan all{.threads = 2, .all = true}, inside{.threads = 2, .notifies = 2, .held = true};
  model::catches<shipped>("condition: relaxed unlock", o, goroutine, weak{.release = true});
  model::catches<shipped>("condition: relaxed lock", o, goroutine, weak{.acquire = true});
  model::catches<shipped>("condition: no futex_wake", o, one, weak{.no_wake = true});
  model::catches<faulty<fault::unlocks_first>>("condition: unlocks before it queues", o, one);
  model::catches<faulty<fault::queues_unsaid>>("condition: queues without `waiting`", o, one);
  model::catches<faulty<fault::newest_first>>("condition: wakes the newest", o, two);
  model::catches<faulty<fault::wakes_two>>("condition: wakes two", o, two);
  model::catches<faulty<fault::wakes_one_for_all>>("condition: wakes one for all", o, all);
  model::catches<faulty<fault::says_nobody_waits>>("condition: says that nobody waits", o, inside);
  model::catches<faulty<fault::returns_unlocked>>("condition: returns without the mutex", o, one);
  model::catches<faulty<fault::unlocks_then_parks>>("condition: unlocks, then parks", o, goroutine);
  model::catches<faulty<fault::commit_reads_late>>("condition: commit reads late",
                                                   {.random = 20'000}, goroutine);
  model::catches<faulty<fault::wakes_under_lock>>("condition: wakes under the lock", o,
                                                  plan{.destroys = true});
  model::catches<stopping<faulty_condition<fault::claims_nobody>>>(
      "condition: notify claims nobody", o, true, false);
}

TEST(Condition, TheMutantsCommonTextHolds) {
  model::holds<faulty<fault::none>>("condition: common text", {.random = 20'000},
                                    plan{.threads = 1, .goroutines = 1, .notifies = 2});
  model::holds<stopping<faulty_condition<fault::none>>>("condition: common text, stop",
                                                        {.random = 20'000}, false, false);
}

}  // namespace
}  // namespace vole::detail
