// base::lock on the checker: mutual exclusion, no lost wake-up, no touch after free.
//
// Mutants are copies of the shipped text with one fault each, or the shipped text
// with an order weakened by the shim.
#include "base/lock.h"

#include <optional>

#include "mutants.h"

namespace {

using namespace vole::base;
using shipped_lock = lock<lock_rank::sched>;

// acquire() and release() in short, to be broken.
enum class fault {
  none,
  looks_before_it_frees,
  sleeps_uncounted,
  counted_late,
  wakes_nobody,
  if_for_while
};

template <fault F>
struct faulty_lock {
  atomic<std::uint32_t> word{0};

  bool take() noexcept {
    std::uint32_t seen = 0;
    return word.compare_exchange_strong(seen, 1, std::memory_order_acquire, relaxed);
  }
  void acquire() noexcept {
    if (take()) return;
    if (F != fault::counted_late) sleeper_table::total().fetch_add(1, relaxed);
    if (F != fault::sleeps_uncounted) sleeper_table::sleepers(&word).fetch_add(1, relaxed);
    vole::base::membarrier();
    if (F == fault::counted_late) sleeper_table::total().fetch_add(1, relaxed);
    if (F == fault::if_for_while) {
      if (!take()) futex_wait(&word, 1);
    } else {
      while (!take()) futex_wait(&word, 1);
    }
    if (F != fault::sleeps_uncounted) sleeper_table::sleepers(&word).fetch_sub(1, relaxed);
    sleeper_table::total().fetch_sub(1, relaxed);
  }
  void release() noexcept {
    bool somebody = sleeper_table::total().load(relaxed) != 0;
    word.store(0, std::memory_order_release);
    if (F != fault::looks_before_it_frees) somebody = sleeper_table::total().load(relaxed) != 0;
    somebody = somebody && sleeper_table::sleepers(&word).load(relaxed) != 0;
    if (somebody && F != fault::wakes_nobody) futex_wake(&word, 1);
  }
};

struct weak {
  bool release = false;
  bool acquire = false;
  bool torn = false;
  bool no_wake = false;
  bool no_barrier = false;
};

// Each thread counts up under the lock, `rounds` times.
template <class Lock>
struct counting {
  Lock l;
  model::var<int> count;
  int wanted;

  counting(int threads, int rounds, weak w) : wanted(threads * rounds) {
    const int word = model::atomic_in(l);
    model::name(word, "word");
    if (w.release) model::weaken(word, model::access::store, relaxed);
    if (w.acquire) model::weaken(word, model::access::rmw, relaxed);
    if (w.torn) model::tear(word);
    if (w.no_wake) model::drop(model::call::futex_wake);
    if (w.no_barrier) model::drop(model::call::membarrier);
    static constexpr const char* kNames[] = {"one", "two", "three"};
    for (int i = 0; i < threads; ++i) {
      model::spawn(kNames[i], [this, rounds] {
        for (int n = 0; n < rounds; ++n) {
          l.acquire();
          count = count.get() + 1;
          l.release();
        }
      });
    }
  }
  void finish() {
    model::require(count.get() == wanted, "lost an addition");
  }
};

// The second of the two destroys the lock as soon as it holds it (lock.h, Note).
struct destroying {
  std::optional<shipped_lock> l{std::in_place};
  model::var<int> left{2};

  destroying() {
    for (const char* name : {"one", "two"}) {
      model::spawn(name, [this] {
        l->acquire();
        left = left.get() - 1;
        const bool last = left.get() == 0;
        l->release();
        if (last) l.reset();
      });
    }
  }
};

struct trying {
  shipped_lock l;
  model::var<int> count;

  trying() {
    for (const char* name : {"one", "two", "three"}) {
      model::spawn(name, [this] {
        if (model::self() == 1) {
          l.acquire();
        } else if (!l.try_acquire()) {
          return;
        }
        count = count.get() + 1;
        l.release();
      });
    }
  }
};

TEST(Lock, TwoThreadsExcludeEachOther) {
  model::holds<counting<shipped_lock>>("lock: 2 threads, once", {}, 2, 1, weak{});
  model::holds<counting<shipped_lock>>("lock: 2 threads, twice", {}, 2, 2, weak{});
  model::holds<counting<shipped_lock>>("lock: 2 threads, once, spurious wake-up",
                                       {.spurious = 2}, 2, 1, weak{});
}

TEST(Lock, ThreeThreadsExcludeEachOther) {
  model::holds<counting<shipped_lock>>("lock: 3 threads, once", {.preemptions = 3, .seconds = 3},
                                       3, 1, weak{});
  model::holds<counting<shipped_lock>>("lock: 3 threads, twice", {.random = 40'000}, 3, 2, weak{});
}

TEST(Lock, TryAcquireExcludesToo) { model::holds<trying>("lock: try_acquire", {.seconds = 2}); }

TEST(Lock, ReleaseTouchesNothingAfterTheStore) {
  model::holds<destroying>("lock: destroyed by its next holder", {.seconds = 2});
}

TEST(Lock, MutantsAreCaught) {
  const model::options o{.seconds = 5};
  using shipped = counting<shipped_lock>;
  model::catches<shipped>("lock: relaxed release", o, 2, 1, weak{.release = true});
  model::catches<shipped>("lock: relaxed acquire", o, 2, 1, weak{.acquire = true});
  model::catches<shipped>("lock: torn read-modify-writes", o, 2, 1, weak{.torn = true});
  model::catches<shipped>("lock: no futex_wake", o, 2, 1, weak{.no_wake = true});
  model::catches<shipped>("lock: no membarrier", o, 2, 1, weak{.no_barrier = true});
  model::catches<counting<faulty_lock<fault::looks_before_it_frees>>>(
      "lock: looks for sleepers before it frees", o, 2, 1, weak{});
  model::catches<counting<faulty_lock<fault::sleeps_uncounted>>>("lock: sleeps uncounted", o, 2, 1,
                                                                 weak{});
  model::catches<counting<faulty_lock<fault::counted_late>>>("lock: sleeps counted too late", o, 2,
                                                             1, weak{});
  model::catches<counting<faulty_lock<fault::wakes_nobody>>>("lock: wakes nobody", o, 2, 1, weak{});
  model::catches<counting<faulty_lock<fault::if_for_while>>>("lock: if for while", o, 2, 1,
                                                             weak{});
  model::holds<counting<faulty_lock<fault::none>>>("lock: the mutants' common text", o, 3, 1,
                                                   weak{});
}

}  // namespace
