// A biased mutex (src/sync/mutex_biased.cc, include/vole/mutex.h) on the checker: its owner locks and
// unlocks it, others come, the bias is given and revoked.
//
// Law    as in mutex_model.cc. Here every lock is counted, and the second in a row biases the mutex;
//        before the threads begin it is biased to the first goroutine's P.
// Note   mutants: the shipped text with an order weakened or a call dropped, and a copy of the
//        protocol in short, which spins where the mutex parks, with one fault each.
#include "public_atomics.h"

#include "sync/mutex.cc"
#include "sync/mutex_biased.cc"

#include <optional>

#include <vole/mutex.h>

#include "destroyed.h"
#include "mutants.h"

std::int64_t vole::os::now_ns() noexcept { return 1; }

namespace vole::detail {
namespace {

enum class fault {
  none,
  does_not_enter,
  does_not_look_again,
  does_not_wait,      // for an owner that is inside
  keeps_the_flag,     // revokes it, and the word says `biased` for ever
  exits_early,        // before the word is written
  gives_at_the_list,  // while somebody is at the list
};

// Of mutex_biased.cc what two threads can disagree about.
template <fault F>
class faulty_mutex {
 public:
  void lock() noexcept {
    M* const m = arch::this_m();
    for (;;) {
      const std::uint64_t seen = s_.word.load(relaxed);
      if ((seen & kBiased) != 0) {
        if (m != nullptr && change(m, kHeld, 0)) return;
        unbias();
      } else if (take(seen)) {
        return;
      }
      cpu_relax();
    }
  }
  bool try_lock() noexcept { return false; }
  void unlock() noexcept {
    M* const m = arch::this_m();
    if ((s_.word.load(relaxed) & kBiased) != 0) {
      if (m != nullptr && change(m, 0, kHeld)) return;
      unbias();
    }
    std::uint64_t seen = s_.word.load(relaxed);
    while (!s_.word.compare_exchange_strong(seen, seen & ~kHeld, release, relaxed)) {
    }
  }
  bool is_at_list() const noexcept { return (s_.word.load(relaxed) & kLocked) != 0; }
  // At the list, for a moment, as release_locked() is.
  void visit_list() noexcept {
    detail::lock(s_);
    detail::unlock(s_);
  }

 private:
  bool take(std::uint64_t seen) noexcept {
    if ((seen & kHeld) != 0) return false;
    if (!s_.word.compare_exchange_strong(seen, seen | kHeld, acquire, relaxed)) return false;
    M* const m = arch::this_m();
    if (m == nullptr || bias::count(s_.whose, rt::presence_of(m), 1)) return true;
    const with_bias_guard hold(s_);
    bias::bias_towards(s_.whose, rt::presence_of(m));
    seen = s_.word.load(relaxed);
    const std::uint64_t busy = F == fault::gives_at_the_list ? 0 : kLocked | kSleepers;
    while ((seen & busy) == 0)
      if (s_.word.compare_exchange_strong(seen, seen | kBiased, acq_rel, relaxed)) return true;
    s_.whose.biased_to.store(0, relaxed);
    return true;
  }
  bool change(M* m, std::uint64_t set, std::uint64_t clear) noexcept {
    presence& mine = rt::presence_of(m);
    if (!bias::is_biased_to(s_.whose, mine)) return false;
    if (F != fault::does_not_enter && !bias::try_enter_biased(s_.whose, mine, bias::name_of_mutex(&s_)) &&
        F != fault::does_not_look_again) {
      bias::exit_biased(mine);
      return false;
    }
    const std::uint64_t seen = s_.word.load(acquire);
    const bool applies = (seen & kBiased) != 0 && (seen & kHeld) == clear;
    if (F == fault::exits_early) bias::exit_biased(mine);
    if (applies) s_.word.store((seen | set) & ~clear, release);
    if (F != fault::exits_early) bias::exit_biased(mine);
    return applies;
  }
  void unbias() noexcept {
    const with_bias_guard hold(s_);
    const std::uintptr_t owner = s_.whose.biased_to.load(relaxed);
    if (bias::is_biased(owner)) {
      if (F == fault::does_not_wait) {
        s_.whose.biased_to.store(0, relaxed);
        presence::must_membarrier();
      } else {
        bias::revoke(s_.whose, bias::name_of_mutex(&s_), nullptr);
      }
    }
    if (F != fault::keeps_the_flag) s_.word.fetch_and(~kBiased, acq_rel);
  }
  mutex_waitable s_;
};

struct plan {
  int rounds = 1;    // of the owner
  int threads = 1;   // that come once, without a presence
  int rivals = 0;    // goroutines that come twice
  int tries = 0;     // threads that try only
};

struct weak {
  bool release = false, no_barrier = false, no_wake = false;
};

template <class Mutex>
struct counting {
  model::kept<Mutex> m;
  model::var<int> count;
  int entered = 0;  // read in finish()
  std::optional<rt::goroutine> owner, rival;

  explicit counting(plan p, weak w = {}) {
    const int word = model::atomic_in(*m);
    model::name(word, "word");
    owner.emplace("owner", 1, [this, p] { come(p.rounds); });
    if (p.rivals != 0) rival.emplace("rival", 1, [this] { come(2); });
    for (int i = 0; i < p.threads; ++i) model::spawn("thread", [this] { come(1); });
    for (int i = 0; i < p.tries; ++i)
      model::spawn("tries", [this] {
        if (m->try_lock()) use();
      });
    bias_towards();
    if (w.release) {  // either would do
      model::weaken(word, model::access::store, relaxed);
      model::weaken(model::atomic_in(rt::running[1]->presence), model::access::store, relaxed);
    }
    if (w.no_barrier) model::drop(model::call::membarrier);
    if (w.no_wake) model::drop(model::call::futex_wake);
  }
  // To the first goroutine, whose threads are 1 and 2.
  void bias_towards() {
    rt::running[0] = rt::running[1];
    for (int i = 0; i < 2; ++i) {
      m->lock();
      m->unlock();
    }
    rt::running[0] = nullptr;
  }
  void come(int rounds) {
    for (int n = 0; n < rounds; ++n) {
      m->lock();
      use();
    }
  }
  void use() {
    ++entered;
    count = count.get() + 1;
    m->unlock();
  }
  void finish() { model::require(count.get() == entered, "lost an addition"); }
};

// The last to come in destroys it.
struct destroying {
  model::kept<mutex> m;
  model::var<int> left{2};
  std::optional<rt::goroutine> owner;

  destroying() {
    owner.emplace("owner", 1, [this] { come(); });
    model::spawn("thread", [this] { come(); });
    rt::running[0] = rt::running[1];
    for (int i = 0; i < 2; ++i) {
      m->lock();
      m->unlock();
    }
    rt::running[0] = nullptr;
  }
  void come() {
    m->lock();
    left = left.get() - 1;
    const bool last = left.get() == 0;
    m->unlock();
    if (last) m.destroy();
  }
};

// One is at the list while the mutex is given away.
template <fault F>
struct visiting {
  model::kept<faulty_mutex<F>> m;
  model::var<int> count;
  std::optional<rt::goroutine> owner;

  visiting() {
    owner.emplace("owner", 1, [this] {
      for (int n = 0; n < 3; ++n) {
        m->lock();
        count = count.get() + 1;
        m->unlock();
      }
    });
    model::spawn("visitor", [this] { m->visit_list(); });
  }
  void finish() {
    model::require(count.get() == 3, "lost an addition");
    model::require(!m->is_at_list(), "somebody left the list, and is there for ever");
  }
};

using shipped = counting<mutex>;

constexpr model::options kBounded{.preemptions = 2, .seconds = 2};

TEST(MutexOwn, OneHoldsItAtATime) {
  model::holds<shipped>("own mutex: owner and a thread", kBounded, plan{});
  model::holds<shipped>("own mutex: the owner twice", kBounded, plan{.rounds = 2});
  model::holds<shipped>("own mutex: four times, it becomes owner again", kBounded,
                        plan{.rounds = 4});
  model::holds<shipped>("own mutex: one tries", kBounded, plan{.tries = 1});
  model::holds<shipped>("own mutex: a rival becomes owner", kBounded,
                        plan{.rounds = 2, .threads = 0, .rivals = 1});
  model::holds<shipped>("own mutex: everybody", {.random = 30'000},
                        plan{.rounds = 3, .threads = 1, .rivals = 1, .tries = 1});
}

TEST(MutexOwn, TheNextMayDestroyIt) {
  model::holds<destroying>("own mutex: destroyed", kBounded);
}

template <fault F>
using faulty = counting<faulty_mutex<F>>;

TEST(MutexOwn, MutantsAreCaught) {
  const model::options o{.seconds = 6};
  const plan twice{.rounds = 2};
  model::catches<shipped>("own mutex: frees and stands up relaxed", o, plan{}, weak{.release = true});
  model::catches<shipped>("own mutex: no membarrier", o, twice, weak{.no_barrier = true});
  model::catches<shipped>("own mutex: no futex_wake", o, twice, weak{.no_wake = true});
  model::catches<faulty<fault::does_not_enter>>("own mutex: does not sit", o, twice);
  model::catches<faulty<fault::does_not_look_again>>("own mutex: does not look again", o, twice);
  model::catches<faulty<fault::does_not_wait>>("own mutex: does not wait", o, twice);
  model::catches<faulty<fault::keeps_the_flag>>("own mutex: keeps the flag", o, twice);
  model::catches<faulty<fault::exits_early>>("own mutex: stands up early", o, twice);
  model::catches<visiting<fault::gives_at_the_list>>("own mutex: given at the list",
                                                     {.random = 100'000});
}

TEST(MutexOwn, TheMutantsCommonTextHolds) {
  model::holds<faulty<fault::none>>("own mutex: common text", kBounded, plan{.rounds = 2});
  model::holds<visiting<fault::none>>("own mutex: common text, at the list", {.random = 100'000});
}

}  // namespace
}  // namespace vole::detail
