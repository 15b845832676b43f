// base::biased_lock on the checker: mutual exclusion between an owner that has entered, threads that
// take the lock by its word, and the next owner; nobody sleeps for ever; no touch after free.
//
// Mutants are copies of the shipped protocol in short with one fault each, or the shipped text with
// an order weakened by the shim.
#include "base/biased_lock.h"

#include <optional>

#include "mutants.h"

namespace {

using namespace vole::base;
using shipped_lock = biased_lock<lock_rank::object>;

enum class fault {
  none,
  does_not_look_again,  // the owner stores its presence and goes in
  does_not_wait,        // for an owner that is inside
  takes_back_without_barrier,
  asks_nobody,  // a thread with the word goes in, whichever P owns the lock
};

// The owner's half and the revoker's, to be broken. Biased from the beginning to presence `first`.
template <fault F>
struct faulty_lock {
  lock<lock_rank::object> word;
  atomic<std::uintptr_t> biased_to{0};

  static std::uintptr_t biased_to_word(const presence& s) { return reinterpret_cast<std::uintptr_t>(&s); }
  void bias_towards(const presence& s) { biased_to.store(biased_to_word(s), relaxed); }

  atomic<std::uint32_t>* take(presence& mine) {
    if (biased_to.load(relaxed) == biased_to_word(mine)) {
      mine.at.store(1, relaxed);
      if (F == fault::does_not_look_again) return &mine.at;
      if (biased_to.load(relaxed) == biased_to_word(mine)) return &mine.at;
      shipped_lock::free(&mine.at);
    }
    acquire();
    return word.word();
  }
  void acquire() {
    word.acquire();
    const std::uintptr_t was = biased_to.load(relaxed);
    if (was == 0 || F == fault::asks_nobody) return;
    biased_to.store(0, relaxed);
    if (F != fault::takes_back_without_barrier) presence::must_membarrier();
    if (F != fault::does_not_wait) reinterpret_cast<presence*>(was)->await_exit(1);
  }
  void release() { word.release(); }
};

void bias_towards(shipped_lock& l, presence& s) {
  for (int i = 0; i < 2; ++i) shipped_lock::free(l.take(s));
}
template <fault F>
void bias_towards(faulty_lock<F>& l, presence& s) {
  l.bias_towards(s);
}

struct weak {
  bool free = false;  // the owner's
  bool no_barrier = false;
  bool no_wake = false;
};

struct plan {
  int owner_rounds = 1;
  int by_word = 1;  // threads that take it by its word
  int rivals = 0;   // ... with a presence of their own, twice: the second time they may become owner
};

// An owner, others by the word, others with presences: each counts up in its turn.
template <class Lock>
struct counting {
  Lock l;
  presence first, second;
  model::var<int> count;
  int wanted;

  counting(plan p, weak w) : wanted(p.owner_rounds + p.by_word + 2 * p.rivals) {
    bias_towards(l, first);
    const int at = model::atomic_in(first);
    model::name(at, "presence");
    if (w.free) model::weaken(at, model::access::store, relaxed);
    if (w.no_barrier) model::drop(model::call::membarrier);
    if (w.no_wake) model::drop(model::call::futex_wake);
    model::spawn("owner", [this, p] { sit(first, p.owner_rounds); });
    for (int i = 0; i < p.by_word; ++i) {
      model::spawn("other", [this] {
        l.acquire();
        count = count.get() + 1;
        l.release();
      });
    }
    for (int i = 0; i < p.rivals; ++i) model::spawn("rival", [this] { sit(second, 2); });
  }
  void sit(presence& s, int rounds) {
    for (int n = 0; n < rounds; ++n) {
      atomic<std::uint32_t>* const by = l.take(s);
      count = count.get() + 1;
      shipped_lock::free(by);
    }
  }
  void finish() { model::require(count.get() == wanted, "lost an addition"); }
};

// One presence, two locks: a thread that waits for the owner to leave the first may find it in the
// second.
struct two_locks {
  alignas(64) shipped_lock a;
  alignas(64) shipped_lock b;
  presence first;
  model::var<int> in_a, in_b;

  two_locks() {
    bias_towards(a, first);
    bias_towards(b, first);
    model::name(model::atomic_in(first), "presence");
    model::spawn("owner", [this] {
      sit(a, in_a);
      sit(b, in_b);
    });
    model::spawn("other a", [this] { enter(a, in_a); });
    model::spawn("other b", [this] { enter(b, in_b); });
  }
  void sit(shipped_lock& l, model::var<int>& n) {
    atomic<std::uint32_t>* const by = l.take(first);
    n = n.get() + 1;
    shipped_lock::free(by);
  }
  void enter(shipped_lock& l, model::var<int>& n) {
    l.acquire();
    n = n.get() + 1;
    l.release();
  }
  void finish() { model::require(in_a.get() == 2 && in_b.get() == 2, "lost an addition"); }
};

// The owner of both is in both at once, and tries a third, as a select does; or, if one has become
// another's, lets all go. A rival does the same with its own.
struct everywhere {
  alignas(64) shipped_lock a;
  alignas(64) shipped_lock b;
  presence first, second;
  model::var<int> in_a, in_b;
  int entered = 0;  // read in finish()

  explicit everywhere(bool rival) {
    bias_towards(a, first);
    bias_towards(b, rival ? second : first);
    model::name(model::atomic_in(first), "presence");
    model::spawn("owner", [this] { select(first); });
    if (rival) {
      model::spawn("rival", [this] { select(second); });
    } else {
      model::spawn("other", [this] {
        b.acquire();
        in_b = in_b.get() + 1;
        b.release();
        ++entered;
      });
    }
  }
  void select(presence& mine) {
    bias::enter_all_biased(mine);
    bool a_by_word = false, b_by_word = false;
    const bool has_a = a.try_take_biased(mine, &a_by_word) == taking::in;
    const bool has_b = has_a && b.try_take_biased(mine, &b_by_word) == taking::in;
    if (has_b) {
      in_a = in_a.get() + 1;
      in_b = in_b.get() + 1;
      ++entered;
    }
    if (has_a && a_by_word) a.release();
    if (has_b && b_by_word) b.release();
    bias::exit_biased(mine);
    if (has_b) return;
    a.acquire(&mine);  // in the order of their addresses
    b.acquire_next_of_kind(&mine);
    in_a = in_a.get() + 1;
    in_b = in_b.get() + 1;
    ++entered;
    a.release();
    b.release();
  }
  void finish() { model::require(in_b.get() == entered && entered == 2, "lost an addition"); }
};

// The second of the two destroys the lock as soon as it has freed it.
struct destroying {
  std::optional<shipped_lock> l{std::in_place};
  presence first;
  model::var<int> left{2};

  destroying() {
    bias_towards(*l, first);
    model::spawn("owner", [this] {
      atomic<std::uint32_t>* const by = l->take(first);
      const bool last = leave();
      shipped_lock::free(by);
      if (last) l.reset();
    });
    model::spawn("other", [this] {
      l->acquire();
      const bool last = leave();
      l->release();
      if (last) l.reset();
    });
  }
  bool leave() {
    left = left.get() - 1;
    return left.get() == 0;
  }
};

// Two selects: each is inside all of its locks, and a value's move revokes a mutex of the other's.
// NameOf: the mutant gives a mutex the name of a lock.
template <std::uint32_t (*NameOf)(const void*) noexcept>
struct crossing {
  presence first, second;
  alignas(64) bias_state a;
  alignas(64) bias_state b;

  crossing() {
    bias::bias_towards(a, first);
    bias::bias_towards(b, second);
    model::spawn("first", [this] { move(first, b); });
    model::spawn("second", [this] { move(second, a); });
  }
  static void move(presence& mine, bias_state& others) {
    bias::enter_all_biased(mine);
    bias::revoke(others, NameOf(&others), &mine);
    bias::exit_biased(mine);
  }
  void finish() { model::require(a.biased_to.load(relaxed) == 0, "it is still somebody's own"); }
};

TEST(BiasedLock, WhoSitsEverywhereMayTakeAMutexBack) {
  model::holds<crossing<&bias::name_of_mutex>>("biased lock: moves take mutexes back",
                                              {.preemptions = 3});
  model::catches<crossing<&bias::name_of_lock>>("biased lock: ... that have names of locks",
                                               {.seconds = 5});
}

TEST(BiasedLock, OwnerAndOthersExcludeEachOther) {
  using shipped = counting<shipped_lock>;
  model::holds<shipped>("biased lock: owner and one by the word", {.preemptions = 5}, plan{},
                        weak{});
  model::holds<shipped>("... the owner twice", {.preemptions = 4}, plan{.owner_rounds = 2}, weak{});
  model::holds<shipped>("... four times, it becomes owner again", {.preemptions = 3},
                        plan{.owner_rounds = 4}, weak{});
  model::holds<shipped>("... two by the word", {.preemptions = 2}, plan{.by_word = 2}, weak{});
  model::holds<shipped>("... two by the word, the owner twice", {.random = 40'000},
                        plan{.owner_rounds = 2, .by_word = 2}, weak{});
}

TEST(BiasedLock, ItsNextOwnerIsExcludedToo) {
  using shipped = counting<shipped_lock>;
  model::holds<shipped>("biased lock: owner and rival", {.preemptions = 3},
                        plan{.owner_rounds = 2, .by_word = 0, .rivals = 1}, weak{});
  model::holds<shipped>("... and one by the word", {.random = 40'000},
                        plan{.owner_rounds = 2, .by_word = 1, .rivals = 1}, weak{});
}

TEST(BiasedLock, AnOwnerOfTwoLeavesTheOneForTheOther) {
  model::holds<two_locks>("biased lock: two of them", {.preemptions = 2});
  model::holds<two_locks>("biased lock: two of them, at random", {.random = 40'000});
}

TEST(BiasedLock, AnOwnerIsInAllThatIsItsOwn) {
  model::holds<everywhere>("biased lock: everywhere, and one by the word", {.preemptions = 3}, false);
  model::holds<everywhere>("biased lock: everywhere, two of them", {.preemptions = 2}, true);
  model::holds<everywhere>("biased lock: everywhere, two, at random", {.random = 40'000}, true);
}

TEST(BiasedLock, FreeTouchesNothingAfterTheStore) {
  model::holds<destroying>("biased lock: destroyed by who comes last", {.preemptions = 4});
}

TEST(BiasedLock, MutantsAreCaught) {
  const model::options o{.seconds = 5};
  using shipped = counting<shipped_lock>;
  model::catches<shipped>("biased lock: relaxed free", o, plan{}, weak{.free = true});
  model::catches<shipped>("biased lock: no membarrier", o, plan{}, weak{.no_barrier = true});
  model::catches<shipped>("biased lock: no futex_wake", o, plan{}, weak{.no_wake = true});
  model::catches<counting<faulty_lock<fault::does_not_look_again>>>(
      "biased lock: does not look again", o, plan{}, weak{});
  model::catches<counting<faulty_lock<fault::does_not_wait>>>("biased lock: does not wait", o,
                                                              plan{}, weak{});
  model::catches<counting<faulty_lock<fault::takes_back_without_barrier>>>(
      "biased lock: takes back without a barrier", o, plan{}, weak{});
  model::catches<counting<faulty_lock<fault::asks_nobody>>>("biased lock: asks nobody", o, plan{},
                                                            weak{});
  model::holds<counting<faulty_lock<fault::none>>>("biased lock: the mutants' common text",
                                                   {.preemptions = 4}, plan{}, weak{});
}

}  // namespace
