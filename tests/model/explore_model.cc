// The checker checked: litmus tests whose outcomes are known.
//
// Law    `sees` asks whether an outcome is possible at all: the program's finish()
//        calls it a violation, so "caught" means "possible".
#include <random>
#include <set>
#include <string>

#include "base/fatal.h"
#include "base/lock.h"
#include "base/note.h"
#include "base/system.h"
#include "mutants.h"

namespace {

using namespace vole::base;
using order = std::memory_order;

template <class Program, class... Args>
bool sees(const char* what, Args... args) {
  const model::outcome r = model::explore<Program>({}, args...);
  std::printf("%-44s %-10s %llu executions, %llu redundant\n", what,
              r.caught ? "possible" : "impossible", static_cast<unsigned long long>(r.executions),
              static_cast<unsigned long long>(r.redundant));
  EXPECT_TRUE(r.caught || r.complete);
  return r.caught;
}

struct message_passing {
  atomic<int> flag{0};
  model::var<int> data;
  message_passing(order w, order r) {
    model::spawn("writer", [this, w] {
      data = 1;
      flag.store(1, w);
    });
    model::spawn("reader", [this, r] {
      if (flag.load(r) == 1) model::require(data.get() == 1, "old data");
    });
  }
};

TEST(Explore, MessagePassingNeedsReleaseAndAcquire) {
  EXPECT_FALSE(sees<message_passing>("mp release/acquire: race", release, acquire));
  EXPECT_TRUE(sees<message_passing>("mp relaxed/acquire: race", relaxed, acquire));
  EXPECT_TRUE(sees<message_passing>("mp release/relaxed: race", release, relaxed));
}

struct release_sequence {
  atomic<int> flag{0};
  model::var<int> data;
  explicit release_sequence(bool rmw) {
    model::spawn("writer", [this] {
      data = 1;
      flag.store(1, release);
    });
    model::spawn("middle", [this, rmw] {
      if (flag.load(relaxed) != 1) return;
      rmw ? (void)flag.fetch_add(1, relaxed) : flag.store(2, relaxed);
    });
    model::spawn("reader", [this] {
      if (flag.load(acquire) == 2) (void)data.get();
    });
  }
};

TEST(Explore, ReleaseSequenceGoesThroughReadModifyWritesOnly) {
  EXPECT_FALSE(sees<release_sequence>("release sequence by rmw: race", true));
  EXPECT_TRUE(sees<release_sequence>("release sequence by store: race", false));
}

enum class between { nothing, fence };

struct store_buffering {
  atomic<int> x{0}, y{0};
  int r1 = 0, r2 = 0;
  store_buffering(order w1, order w2, order r, between b1, between b2) {
    model::spawn("left", [=, this] {
      x.store(1, w1);
      if (b1 == between::fence) fence_seq_cst();
      r1 = y.load(r);
    });
    model::spawn("right", [=, this] {
      y.store(1, w2);
      if (b2 == between::fence) fence_seq_cst();
      r2 = x.load(r);
    });
  }
  void finish() { model::require(r1 + r2 != 0, "both read 0"); }
};

TEST(Explore, StoreBufferingNeedsSeqCstOrFencesOnBothSides) {
  constexpr auto none = between::nothing, fence = between::fence;
  using sb = store_buffering;
  EXPECT_TRUE(sees<sb>("sb relaxed: 0 0", relaxed, relaxed, relaxed, none, none));
  EXPECT_TRUE(sees<sb>("sb release/acquire: 0 0", release, release, acquire, none, none));
  EXPECT_FALSE(sees<sb>("sb seq_cst: 0 0", seq_cst, seq_cst, seq_cst, none, none));
  EXPECT_TRUE(sees<sb>("sb one store release: 0 0", release, seq_cst, seq_cst, none, none));
  EXPECT_TRUE(sees<sb>("sb seq_cst stores, relaxed loads: 0 0", seq_cst, seq_cst, relaxed, none,
                       none));
  EXPECT_FALSE(sees<sb>("sb fences: 0 0", relaxed, relaxed, relaxed, fence, fence));
  EXPECT_TRUE(sees<sb>("sb one fence: 0 0", relaxed, relaxed, relaxed, fence, none));
  EXPECT_FALSE(sees<sb>("sb fence against seq_cst: 0 0", relaxed, seq_cst, seq_cst, fence, none));
}

struct asymmetric {
  atomic<int> x{0}, y{0};
  int r1 = 0, r2 = 0;
  explicit asymmetric(bool barrier) {
    if (!barrier) model::drop(model::call::membarrier);
    model::spawn("light", [this] {
      x.store(1, relaxed);
      compiler_barrier();
      r1 = y.load(relaxed);
    });
    model::spawn("heavy", [this] {
      y.store(1, relaxed);
      model::membarrier();
      r2 = x.load(relaxed);
    });
  }
  void finish() { model::require(r1 + r2 != 0, "both read 0"); }
};

TEST(Explore, MembarrierFencesEveryThread) {
  EXPECT_FALSE(sees<asymmetric>("sb membarrier: 0 0", true));
  EXPECT_TRUE(sees<asymmetric>("sb membarrier dropped: 0 0", false));
}

struct iriw {
  atomic<int> x{0}, y{0};
  int r[4] = {};
  iriw(order w, order o) {
    model::spawn("x", [this, w] { x.store(1, w); });
    model::spawn("y", [this, w] { y.store(1, w); });
    model::spawn("xy", [this, o] { r[0] = x.load(o), r[1] = y.load(o); });
    model::spawn("yx", [this, o] { r[2] = y.load(o), r[3] = x.load(o); });
  }
  void finish() { model::require(!(r[0] && !r[1] && r[2] && !r[3]), "two orders"); }
};

TEST(Explore, ReadersAgreeOnIndependentWritesOnlyInSeqCst) {
  EXPECT_TRUE(sees<iriw>("iriw release/acquire: two orders", release, acquire));
  EXPECT_FALSE(sees<iriw>("iriw seq_cst: two orders", seq_cst, seq_cst));
}

struct coherence {
  atomic<int> x{0};
  int r1 = 0, r2 = 0, wanted1, wanted2;
  coherence(int first, int second) : wanted1(first), wanted2(second) {
    model::spawn("writer", [this] {
      x.store(1, relaxed);
      x.store(2, relaxed);
    });
    model::spawn("reader", [this] { r1 = x.load(relaxed), r2 = x.load(relaxed); });
  }
  void finish() { model::require(r1 != wanted1 || r2 != wanted2, "seen"); }
};

TEST(Explore, OneLocationIsReadInOrder) {
  EXPECT_TRUE(sees<coherence>("coherence: 1 2", 1, 2));
  EXPECT_TRUE(sees<coherence>("coherence: 0 0", 0, 0));
  EXPECT_FALSE(sees<coherence>("coherence: 2 1", 2, 1));
  EXPECT_FALSE(sees<coherence>("coherence: 1 0", 1, 0));
}

struct stale_after_flag {
  atomic<int> x{0}, y{0};
  bool old = false;
  explicit stale_after_flag(order r) {
    model::spawn("writer", [this] {
      x.store(1, relaxed);
      y.store(1, release);
    });
    model::spawn("reader", [this, r] { old = y.load(r) == 1 && x.load(relaxed) == 0; });
  }
  void finish() { model::require(!old, "stale"); }
};

TEST(Explore, AnUnorderedLoadMayBeStale) {
  EXPECT_TRUE(sees<stale_after_flag>("stale load after relaxed flag", relaxed));
  EXPECT_FALSE(sees<stale_after_flag>("stale load after acquired flag", acquire));
}

struct counting {
  atomic<int> x{0};
  explicit counting(bool torn) {
    if (torn) model::tear(model::atomic_in(x));
    for (int i = 0; i < 3; ++i) model::spawn("adder", [this] { x.fetch_add(1, relaxed); });
  }
  void finish() { model::require(x.load(relaxed) == 3, "lost an addition"); }
};

TEST(Explore, ReadModifyWritesLoseNothingUnlessTorn) {
  EXPECT_FALSE(sees<counting>("fetch_add: lost", false));
  EXPECT_TRUE(sees<counting>("torn fetch_add: lost", true));
}

struct handshake {
  atomic<std::uint32_t> word{0};
  explicit handshake(bool checked) {
    model::spawn("sleeper", [this, checked] {
      if (!checked) {
        if (word.load(acquire) == 0) futex_wait(&word, word.load(relaxed));
      } else {
        while (word.load(acquire) == 0) futex_wait(&word, 0);
      }
    });
    model::spawn("waker", [this] {
      word.store(1, release);
      futex_wake(&word, 1);
    });
  }
};

TEST(Explore, FutexFindsLostWakeUps) {
  EXPECT_FALSE(sees<handshake>("futex expecting 0: lost wake-up", true));
  EXPECT_TRUE(sees<handshake>("futex expecting anything: lost wake-up", false));
}

struct racing {
  model::mutex m;
  model::var<int> data;
  explicit racing(bool locked) {
    for (int i = 0; i < 2; ++i) {
      model::spawn("adder", [this, locked] {
        if (locked) m.lock();
        data = data.get() + 1;
        if (locked) m.unlock();
      });
    }
  }
  void finish() { model::require(data.get() == 2, "lost an addition"); }
};

TEST(Explore, VarsRaceWithoutALock) {
  EXPECT_FALSE(sees<racing>("two adders with a mutex: race", true));
  EXPECT_TRUE(sees<racing>("two adders without: race", false));
}

struct spinning {
  atomic<int> flag{0};
  explicit spinning(bool answered) {
    model::spawn("spinner", [this] {
      while (flag.load(acquire) == 0) cpu_relax();
    });
    model::spawn("setter", [this, answered] {
      if (answered) flag.store(1, release);
    });
  }
};

TEST(Explore, SpinningEndsIfSomebodyAnswers) {
  EXPECT_FALSE(sees<spinning>("spin on a flag that is set: livelock", true));
  EXPECT_TRUE(sees<spinning>("spin on a flag that is not: livelock", false));
}

// Spins on what it saw last, gives up, and wants to change just that.
struct changing_what_it_saw {
  atomic<int> word{1};
  int taken = 0;  // read in finish()
  bool changed = false;
  changing_what_it_saw() {
    model::spawn("spinner", [this] {
      int seen = 0;
      for (int i = 0; i < 3; ++i) {
        seen = word.load(relaxed);
        cpu_relax();
      }
      changed = seen == 1 && word.compare_exchange_strong(seen, 2, relaxed, relaxed);
    });
    model::spawn("taker", [this] { taken = word.exchange(0, relaxed); });
  }
  void finish() { model::require(!changed || taken == 2, "changed what was no longer there"); }
};

TEST(Explore, ASpinnerChangesOnlyTheNewestStore) {
  EXPECT_FALSE(sees<changing_what_it_saw>("spin on a stale value, then change it"));
}

struct spinning_on_its_own {
  atomic<int> word{0};
  spinning_on_its_own() {
    model::spawn("spinner", [this] {
      (void)word.load(relaxed);
      word.store(1, relaxed);
      cpu_relax();
      model::require(word.load(relaxed) == 1, "read what was there before its own store");
    });
  }
};

TEST(Explore, ASpinnerSeesItsOwnStore) {
  EXPECT_FALSE(sees<spinning_on_its_own>("spin after a store, see what was before"));
}

struct woken_twice {
  note n;
  woken_twice() {
    model::spawn("first", [this] { n.wake(); });
    model::spawn("second", [this] { n.wake(); });
  }
};

TEST(Explore, FatalIsAViolation) { EXPECT_TRUE(sees<woken_twice>("a note woken twice: fatal")); }

// Three threads of two or three operations each, drawn from a seed.
struct drawn {
  atomic<int> x{0}, y{0};
  std::string seen[3];
  std::set<std::string>& outcomes;

  drawn(unsigned seed, std::set<std::string>* all) : outcomes(*all) {
    static constexpr order kOrders[] = {relaxed, acq_rel, seq_cst};
    std::mt19937 draw(seed);
    for (int t = 0; t < 3; ++t) {
      const std::uint32_t kinds = static_cast<std::uint32_t>(draw());
      const std::uint32_t places = static_cast<std::uint32_t>(draw());
      const std::uint32_t orders = static_cast<std::uint32_t>(draw());
      model::spawn("drawn", [=, this] { run(t, kinds, places, orders, t == 2 ? 2 : 3, kOrders); });
    }
  }
  void run(int t, unsigned kinds, unsigned places, unsigned orders, int n, const order* table) {
    for (int i = 0; i < n; ++i, kinds /= 6, places /= 2, orders /= 3) {
      atomic<int>& a = places % 2 == 0 ? x : y;
      const order o = table[orders % 3];
      const int value = 3 * t + i + 1;
      int was = 0;
      switch (kinds % 6) {
        case 0: a.store(value, o == acq_rel ? release : o); break;
        case 1: was = a.exchange(value, o); break;
        case 2: a.compare_exchange_strong(was, value, o); break;
        case 3: fence_seq_cst(); break;
        default: was = a.load(o == acq_rel ? acquire : o); break;
      }
      seen[t] += static_cast<char>('0' + was);
    }
  }
  void finish() { outcomes.insert(seen[0] + seen[1] + seen[2]); }
};

TEST(Explore, SleepSetsLoseNoOutcome) {
  std::uint64_t with = 0, without = 0;
  for (unsigned seed = 1; seed <= 25; ++seed) {
    std::set<std::string> reduced, full;
    with += model::explore<drawn>({}, seed, &reduced).executions;
    without += model::explore<drawn>({.preemptions = 1000}, seed, &full).executions;
    EXPECT_EQ(reduced, full) << "seed " << seed;
  }
  std::printf("25 drawn programs: %llu executions with sleep sets, %llu without\n",
              static_cast<unsigned long long>(with), static_cast<unsigned long long>(without));
}

}  // namespace
