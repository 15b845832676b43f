// base::note on the checker: a wake is never lost and carries data along.
#include "base/note.h"

#include <optional>

#include "mutants.h"

namespace {

using namespace vole::base;

enum class fault { none, if_for_while, waits_unchecked, no_wake };

template <fault F>
struct faulty_note {
  atomic<std::uint32_t> word{0};

  void wake() noexcept {
    word.exchange(1, std::memory_order_release);
    if (F != fault::no_wake) futex_wake(&word, 1);
  }
  void sleep() noexcept {
    if (F == fault::if_for_while) {
      if (word.load(std::memory_order_acquire) == 0) futex_wait(&word, 0);
    } else if (F == fault::waits_unchecked) {
      while (word.load(std::memory_order_acquire) == 0) futex_wait(&word, word.load(relaxed));
    } else {
      while (word.load(std::memory_order_acquire) == 0) futex_wait(&word, 0);
    }
  }
  void clear() noexcept { word.store(0, relaxed); }
};

struct weak {
  bool wake = false;
  bool sleep = false;
  bool no_futex_wake = false;
};

// The waker writes, wakes; the sleeper sleeps, reads. `rounds` times: the sleeper
// clears before it asks for the next one through a second note.
template <class Note>
struct waking {
  Note there, back;
  model::var<int> data;

  waking(int rounds, weak w) {
    for (Note* n : {&there, &back}) {
      const int word = model::atomic_in(*n);
      model::name(word, n == &there ? "there" : "back");
      if (w.wake) model::weaken(word, model::access::rmw, relaxed);
      if (w.sleep) model::weaken(word, model::access::load, relaxed);
    }
    if (w.no_futex_wake) model::drop(model::call::futex_wake);
    model::spawn("waker", [this, rounds] {
      for (int n = 1; n <= rounds; ++n) {
        data = n;
        there.wake();
        if (n == rounds) return;
        back.sleep();
        back.clear();
      }
    });
    model::spawn("sleeper", [this, rounds] {
      for (int n = 1; n <= rounds; ++n) {
        there.sleep();
        model::require(data.get() == n, "woke up before the wake");
        there.clear();
        if (n == rounds) return;
        back.wake();
      }
    });
  }
};

// A sleeper that gives up takes its offer back; either the waker or it gets the token.
struct timing {
  note n;
  atomic<int> offer{1};
  model::var<int> data;
  int woken = 0, gave_up = 0;

  timing() {
    model::spawn("waker", [this] {
      int open = 1;
      if (!offer.compare_exchange_strong(open, 0, acq_rel)) return;
      data = 7;
      n.wake();
    });
    model::spawn("sleeper", [this] {
      if (!n.sleep_for(1)) {
        int open = 1;
        if (offer.compare_exchange_strong(open, 0, acq_rel)) {
          ++gave_up;
          return;
        }
        n.sleep();
      }
      ++woken;
      model::require(data.get() == 7, "woke up before the wake");
    });
  }
  void finish() { model::require(woken + gave_up == 1, "neither woken nor given up"); }
};

// The sleeper destroys the note as soon as it is awake (note.h, Note).
struct destroying {
  std::optional<note> n{std::in_place};

  destroying() {
    model::spawn("waker", [this] { n->wake(); });
    model::spawn("sleeper", [this] {
      n->sleep();
      n.reset();
    });
  }
};

TEST(Note, WakeIsNeverLost) {
  model::holds<waking<note>>("note: 1 round", {}, 1, weak{});
  model::holds<waking<note>>("note: 2 rounds", {}, 2, weak{});
  model::holds<waking<note>>("note: 3 rounds", {.seconds = 3}, 3, weak{});
  model::holds<waking<note>>("note: 2 rounds, spurious wake-ups", {.seconds = 3, .spurious = 2}, 2,
                             weak{});
}

TEST(Note, TimedSleepEndsOnce) { model::holds<timing>("note: sleep_for", {}); }

TEST(Note, WakeTouchesOnlyTheAddressAfterTheExchange) {
  model::holds<destroying>("note: destroyed by the sleeper", {});
}

TEST(Note, MutantsAreCaught) {
  const model::options o{.seconds = 5};
  const model::options rude{.seconds = 5, .spurious = 1};
  model::catches<waking<note>>("note: relaxed wake", o, 1, weak{.wake = true});
  model::catches<waking<note>>("note: relaxed sleep", o, 1, weak{.sleep = true});
  model::catches<waking<note>>("note: no futex_wake", o, 1, weak{.no_futex_wake = true});
  model::catches<waking<faulty_note<fault::if_for_while>>>("note: if for while", rude, 1, weak{});
  model::catches<waking<faulty_note<fault::waits_unchecked>>>("note: futex expects anything", o, 1,
                                                              weak{});
  model::catches<waking<faulty_note<fault::no_wake>>>("note: sets the word only", o, 1, weak{});
  model::holds<waking<faulty_note<fault::none>>>("note: the mutants' common text", rude, 2,
                                                 weak{});
}

}  // namespace
