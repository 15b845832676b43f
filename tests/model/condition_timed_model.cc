// The condition variable's timed wait as it is shipped (src/sync/condition_variable.cc) on
// the checker: when the time is over is the checker's choice.
//
// Law    a notify wakes somebody whose time is not over, if there is one. Nobody is woken
//        by it twice, and a waiter that gave up is off the queue before it returns. After
//        notify_all() the condition variable may be destroyed.
// Note   plain threads only: a goroutine's clock needs a runtime.
#include "public_atomics.h"

#include "sync/condition_variable.cc"
#include "sync/mutex.cc"
#include "sync/mutex_biased.cc"

#include <vole/condition_variable.h>

#include "destroyed.h"
#include "mutants.h"

std::int64_t vole::os::now_ns() noexcept { return 1; }

namespace {
model::mutex* busy = nullptr;  // while somebody's clock is at the condition
}

// Others run until that is over. In truth a yield promises less; to try once more shows nothing new.
void vole::os::yield_thread() noexcept {
  busy->lock();
  busy->unlock();
}

namespace vole::detail {
namespace {

constexpr std::int64_t kSoon = 2;

template <class Public>
waitable& inside_of(Public& object) noexcept {
  return *reinterpret_cast<waitable*>(&object);
}

enum class fault {
  none,
  gives_up_unclaimed,  // the clock does not ask whether a notify came
  stays_queued,        // the clock does not take the waiter off the queue
  notifies_the_late,   // a notify does not ask whether the clock was first
};

template <fault F>
bool wait_until(waitable& s, waitable& held_mutex) noexcept {
  if (F == fault::none || F == fault::notifies_the_late)
    return condition_wait_until(s, held_mutex, kSoon);
  rt::place here;
  waiter& mine = *here.self(nullptr, &s, &unlink_waiter);
  rt::deadline clock;
  rt::arm(clock, nullptr, &mine, kSoon);
  lock(s);
  condition_queue_locked(s, &mine, held_mutex);
  unlock(s);
  mutex_unlock_inside(held_mutex, nullptr);
  if (F == fault::gives_up_unclaimed) {
    if (rt::sleeps_until(*here.note(), kSoon)) return true;
    unlink_waiter(&s, &mine);
    model::require(clock.winner.load(relaxed) == 0, "went away with a notify");
    return false;
  }
  mine.unlink = [](void*, waiter*) noexcept {};
  const bool in_time = rt::sleeps_until(*here.note(), kSoon) || !rt::expire_on_thread(clock);
  if (in_time) here.note()->sleep();
  model::require(mine.object == nullptr, "went away, and left its waiter in the queue");
  return in_time;
}

template <fault F>
void notify_one(condition_variable& c) noexcept {
  if (F != fault::notifies_the_late) return c.notify_one();
  waitable& s = inside_of(c);
  lock(s);
  waiter* const w = rt::wait_queue::pop_front(s.waiters);
  unlock(s, [any = s.waiters.first != nullptr](std::uint64_t word) {
    return with_waiting(word, any);
  });
  if (w == nullptr) return;
  model::require(!has_expired(w), "notified one whose time is over");
  rt::wake(nullptr, w);
}

struct plan {
  int timed = 1, patient = 1;
  bool destroys = false;  // by the notifier, who notifies all
};

template <fault F>
struct waiting {
  model::kept<mutex> m;
  model::kept<condition_variable> c;
  model::mutex timed_wait;
  bool gone = false;
  plan p;
  model::var<int> here{0};     // who waits. Under m, like what follows
  model::var<int> patient{0};  // of them, those without a time
  int notified = 0, owed = 0;  // read in finish()

  explicit waiting(plan what) : p(what) {
    busy = &timed_wait;
    timed_wait.lock();
    model::name(model::atomic_in(*c), "condition");
    model::name(model::atomic_in(*m), "mutex");
    static constexpr const char* kTimed[] = {"timed1", "timed2"};
    for (int i = 0; i < p.timed; ++i) model::spawn(kTimed[i], [this] { wait_timed(); });
    for (int i = 0; i < p.patient; ++i) model::spawn_daemon("patient", [this] { wait(); });
    model::spawn("notifier", [this] { p.destroys ? notify_all() : notify(); });
  }

  void wait_timed() {
    m->lock();
    here = here.get() + 1;
    const bool in_time = wait_until<F>(inside_of(*c), inside_of(*m));
    timed_wait.unlock();
    m->lock();
    notified += in_time ? 1 : 0;
    m->unlock();
  }
  void wait() {
    m->lock();
    here = here.get() + 1;
    patient = patient.get() + 1;
    condition_wait(inside_of(*c), inside_of(*m), nullptr);
    m->lock();
    ++notified;
    m->unlock();
  }
  void notify() {
    m->lock();
    owed = patient.get() > 0 ? 1 : 0;
    notify_one<F>(*c);
    m->unlock();
  }
  void notify_all() {
    m->lock();
    const bool everybody = here.get() == p.timed + p.patient;
    if (everybody) owed = p.patient;
    if (everybody) c->notify_all();
    m->unlock();
    if (!everybody) return;
    gone = true;
    c.destroy();
  }
  void finish() {
    model::require(notified >= owed, "a notify is lost");
    model::require(notified <= 1 || p.destroys, "one notify, and two were told");
    if (gone) return;
    int queued = 0;
    for (const waiter* w = inside_of(*c).waiters.first; w != nullptr; w = w->next) ++queued;
    model::require(queued <= p.patient, "went away, and left its waiter in the queue");
  }
};

constexpr model::options kBounded{.preemptions = 2, .seconds = 0.6};

TEST(ConditionTimed, ANotifyIsForOneWhoseTimeIsNotOver) {
  model::holds<waiting<fault::none>>("condition: timed", {.seconds = 0.6}, plan{.patient = 0});
  model::holds<waiting<fault::none>>("condition: timed and not", kBounded, plan{});
  model::holds<waiting<fault::none>>("condition: 2 timed, one not", {.random = 40'000},
                                     plan{.timed = 2});
}

TEST(ConditionTimed, WhoHasNotifiedAllMayDestroyIt) {
  model::holds<waiting<fault::none>>("condition: timed, destroyed", kBounded,
                                     plan{.patient = 0, .destroys = true});
  model::holds<waiting<fault::none>>("condition: timed and not, destroyed", {.random = 40'000},
                                     plan{.destroys = true});
}

TEST(ConditionTimed, MutantsAreCaught) {
  const model::options o{.seconds = 6};
  model::catches<waiting<fault::gives_up_unclaimed>>("condition: gives up unclaimed", o, plan{});
  model::catches<waiting<fault::stays_queued>>("condition: gives up, stays queued", o,
                                               plan{.patient = 0});
  model::catches<waiting<fault::notifies_the_late>>("condition: notifies who is late", o, plan{});
}

}  // namespace
}  // namespace vole::detail
