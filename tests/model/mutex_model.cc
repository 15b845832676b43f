// The mutex as it is shipped (src/sync/mutex.cc, include/vole/mutex.h) on the checker:
// plain threads and goroutines lock, try, unlock and destroy it.
//
// Law    one holds it at a time, and what it wrote is seen by the next. Nobody sleeps for
//        ever once everybody has unlocked. The laws on top of mutex.cc hold for every value
//        the word ever has: starving, it is held, handed over rather than freed, and no
//        longer starving with nobody in the queue. The queue is in the order of arrival,
//        losers included. A thread that was let in may destroy it.
// Note   a millisecond passes where the checker chooses, or always: the clock is read with
//        the lock held only.
#include "public_atomics.h"

#include "sync/mutex.cc"
#include "sync/mutex_biased.cc"

#include <optional>

#include <vole/mutex.h>

#include "destroyed.h"
#include "faulty_mutex.h"
#include "mutants.h"

namespace {

constexpr int kAlways = -1;
struct {
  std::int64_t now;
  int late;  // so many times, at most
} passing;

}  // namespace

std::int64_t vole::os::now_ns() noexcept {
  const bool late = passing.late == kAlways || (passing.late > 0 && model::choose(2) == 1);
  if (late && passing.late != kAlways) --passing.late;
  return passing.now += late ? 2'000'000 : 1;
}

namespace vole::detail {
namespace {

// The public one, and a look at its inside.
struct shipped_mutex : mutex {
  const waitable& state() const noexcept { return *reinterpret_cast<const waitable*>(this); }
};
static_assert(sizeof(mutex) == sizeof(mutex_waitable));

struct plan {
  int threads = 2, goroutines = 0;
  int rounds = 1;     // of the first one; all others come once
  bool held = false;  // by the first one, from the beginning
  int tries = 0;      // threads that try only
  int late = 0;
  bool mortal = false;  // goroutines may be abandoned when woken
};

// Spawns them, the first one last: the checker tries those spawned earlier before, so the others
// queue in its earliest executions. Each calls use() with the mutex locked.
template <class Mutex>
class contenders {
 public:
  contenders(Mutex& m, plan p, const std::function<void()>& use) {
    passing = {0, p.late};
    model::name(model::atomic_in(m), "word");
    if (p.held) m.lock();
    const auto come = [&m, use] {
      m.lock();
      use();
    };
    const auto come_first = [&m, use, p] {
      for (int n = 0; n < p.rounds; ++n) {
        if (n > 0 || !p.held) m.lock();
        use();
      }
    };
    for (int i = p.threads + p.goroutines - 1; i >= 0; --i) {
      const std::function<void()> body = i == 0 ? std::function(come_first) : come;
      if (i < p.threads) {
        model::spawn(kNames[i], body);
      } else {
        goroutines_[i - p.threads].emplace(kGoroutines[i - p.threads], 1, body, p.mortal);
        if (p.mortal) goroutines_[i - p.threads]->may_be_abandoned();
      }
    }
    for (int i = 0; i < p.tries; ++i)
      model::spawn("tries", [&m, use] {
        if (m.try_lock()) use();
      });
  }

 private:
  static constexpr const char* kNames[] = {"one", "two", "three"};
  static constexpr const char* kGoroutines[] = {"g1", "g2"};
  std::optional<rt::goroutine> goroutines_[2];
};

struct weak {
  bool release = false, acquire = false, no_wake = false;
};

void require_lawful(std::uint64_t was, std::uint64_t is) {
  const bool starving = (is & kStarving) != 0;
  model::require(!starving || (is & kHeld) != 0, "starving, and free");
  model::require(!starving || (is & kWoken) == 0, "starving, and somebody competes");
  model::require(!starving || (is & kLocked) != 0 || (is & kWaiting) != 0,
                 "starving, and nobody waits");
  model::require((was & kStarving) == 0 || (was & kWaiting) == 0 || (is & kHeld) != 0,
                 "starving, and newcomers may barge in");
}

void require_in_order(const waitable& s) {
  for (const waiter* w = s.waiters.first; w != nullptr && w->next != nullptr; w = w->next)
    model::require(waiting_since(w) < waiting_since(w->next), "overtaken in the queue");
}

// Each counts up inside.
template <class Mutex>
struct counting {
  model::kept<Mutex> m;
  model::var<int> count;
  int word = model::atomic_in(*m);
  int entered = 0;  // read in finish()
  contenders<Mutex> all;

  explicit counting(plan p, weak w = {}) : all(*m, p, [this] { use(); }) {
    if (w.release) model::weaken(word, model::access::rmw, acquire);
    if (w.acquire) model::weaken(word, model::access::rmw, release);
    if (w.no_wake) model::drop(model::call::futex_wake);
  }
  void use() {
    ++entered;
    count = count.get() + 1;
    model::require(!m->try_lock(), "locked twice");
    require_in_order(m->state());
    m->unlock();
  }
  void finish() {
    model::require(count.get() == entered, "lost an addition");
    const std::uint64_t left = m->state().word.load(relaxed) & wait_flag::all & ~kBiased;
    model::require(left == 0, "all is done, and it is not as new");
    model::each_store(word, require_lawful);
  }
};

// The last to come in destroys it, while those before may still be on their way out.
template <class Mutex>
struct destroying {
  model::kept<Mutex> m;
  model::var<int> left;
  contenders<Mutex> all;

  explicit destroying(plan p)
      : left(p.threads + p.goroutines + p.rounds - 1), all(*m, p, [this] {
          left = left.get() - 1;
          const bool last = left.get() == 0;
          m->unlock();
          if (last) m.destroy();
        }) {}
};

using shipped = counting<shipped_mutex>;

constexpr model::options kBounded{.preemptions = 2, .seconds = 0.4};

TEST(Mutex, OneHoldsItAtATime) {
  model::holds<shipped>("mutex: 2 threads", {}, plan{});
  model::holds<shipped>("mutex: 2 threads, spurious wake-up", {.seconds = 0.4, .spurious = 1},
                        plan{.held = true});
  model::holds<shipped>("mutex: 2 threads, one tries", kBounded, plan{.tries = 1});
  model::holds<shipped>("mutex: 3 threads", kBounded, plan{.threads = 3, .held = true});
  model::holds<shipped>("mutex: 2 goroutines", {}, plan{.threads = 0, .goroutines = 2});
  model::holds<shipped>("mutex: a thread, a goroutine", {}, plan{.threads = 1, .goroutines = 1});
  model::holds<shipped>("mutex: a thread, 2 goroutines", kBounded,
                        plan{.threads = 1, .goroutines = 2, .held = true});
}

TEST(Mutex, StarvingItIsHandedOver) {
  const plan threads{.threads = 2, .rounds = 2, .held = true, .late = kAlways};
  const plan goroutines{.threads = 1, .goroutines = 1, .rounds = 2, .held = true, .late = kAlways};
  model::holds<shipped>("mutex: starving, 2 threads", kBounded, threads);
  model::holds<shipped>("mutex: starving, a thread, a goroutine", kBounded, goroutines);
  model::holds<shipped>("mutex: starving, 3 threads", kBounded,
                        plan{.threads = 3, .rounds = 2, .held = true, .late = kAlways});
  model::holds<shipped>("mutex: starving at times, 3 threads", {.random = 20'000},
                        plan{.threads = 3, .rounds = 3, .held = true, .late = 2});
  model::holds<shipped>(
      "mutex: starving at times, everybody", {.random = 20'000},
      plan{.threads = 1, .goroutines = 2, .rounds = 3, .held = true, .tries = 1, .late = 2});
}

TEST(Mutex, TheAbandonedPassItsTurnOn) {
  model::holds<shipped>("mutex: abandoned, a thread waits", kBounded,
                        plan{.threads = 2, .goroutines = 1, .held = true, .mortal = true});
}

TEST(Mutex, TheNextMayDestroyIt) {
  model::holds<destroying<mutex>>("mutex: destroyed, 2 threads", {}, plan{});
  model::holds<destroying<mutex>>("mutex: destroyed, a thread, a goroutine", {.seconds = 1},
                                  plan{.threads = 1, .goroutines = 1});
  model::holds<destroying<mutex>>("mutex: destroyed, 2 threads, starving", kBounded,
                                  plan{.rounds = 2, .held = true, .late = kAlways});
}

template <fault F>
using faulty = counting<faulty_mutex<F>>;

TEST(Mutex, MutantsAreCaught) {
  const model::options o{.seconds = 6};
  const plan two{.held = true}, three{.threads = 3, .held = true};
  const plan starving{.rounds = 2, .held = true, .late = kAlways};
  const plan goroutine{.threads = 1, .goroutines = 1, .held = true};
  const plan mortal{.threads = 2, .goroutines = 1, .held = true, .mortal = true};
  model::catches<shipped>("mutex: relaxed unlock", o, two, weak{.release = true});
  model::catches<shipped>("mutex: relaxed lock", o, two, weak{.acquire = true});
  model::catches<shipped>("mutex: relaxed unlock, goroutines", o, goroutine, weak{.release = true});
  model::catches<shipped>("mutex: relaxed lock, goroutines", o, goroutine, weak{.acquire = true});
  model::catches<shipped>("mutex: no futex_wake", o, two, weak{.no_wake = true});
  model::catches<faulty<fault::wakes_nobody>>("mutex: wakes nobody", o, two);
  model::catches<faulty<fault::keeps_woken>>("mutex: keeps `woken`", o, three);
  model::catches<faulty<fault::queues_unsaid>>("mutex: queues without `waiting`", o, two);
  model::catches<faulty<fault::looks_then_queues>>("mutex: looks, then queues", o, two);
  model::catches<faulty<fault::loser_goes_last>>("mutex: a loser goes last", {.random = 20'000},
                                                 plan{.threads = 3, .rounds = 2, .held = true});
  model::catches<faulty<fault::hands_over_free>>("mutex: hands over, and is free", o, starving);
  model::catches<faulty<fault::frees_for_all>>("mutex: starving, frees for all", o, starving);
  model::catches<faulty<fault::starving_competes>>("mutex: starving, competes", o, starving);
  model::catches<faulty<fault::starving_for_ever>>("mutex: starving for ever", o, starving);
  model::catches<faulty<fault::unlocks_then_parks>>("mutex: unlocks, then parks", o, goroutine);
  model::catches<faulty<fault::abandons>>("mutex: the abandoned pass nothing on", o, mortal);
  using ends_starving_late = destroying<faulty_mutex<fault::ends_starving_late>>;
  using frees_then_wakes = destroying<faulty_mutex<fault::frees_then_wakes>>;
  model::catches<ends_starving_late>("mutex: starving ends late", o, starving);
  model::catches<frees_then_wakes>("mutex: frees, then wakes", o, two);
}

TEST(Mutex, TheMutantsCommonTextHolds) {
  using sound = faulty<fault::none>;
  model::holds<sound>("mutex: common text", {.seconds = 0.4}, plan{});
  model::holds<sound>("mutex: common text, starving", {.random = 20'000},
                      plan{.threads = 2, .goroutines = 1, .rounds = 2, .tries = 1, .late = 2});
  model::holds<destroying<faulty_mutex<fault::none>>>("mutex: common text, destroyed", {}, plan{});
}

}  // namespace
}  // namespace vole::detail
