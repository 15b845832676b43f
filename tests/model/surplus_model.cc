// sched/work/surplus.h on the checker: idle Ms whose time is over, wakers that need one, and the end of
// the runtime.
//
// Law    every P that a waker sends arrives at an M (I7). The end wakes each M that has not ended,
//        and none that has.
#include "sched/work/surplus.h"

#include "base/note.h"
#include "mutants.h"

namespace {

using namespace vole::base;

constexpr int kMs = 2;

enum class fault {
  none,
  no_second_look,    // its time is over: it leaves, whoever may have taken it off meanwhile
  looks_outside,     // ... looks before it takes L
  does_not_wait,     // taken off by a waker: it ends all the same
  ignores_the_stop,  // leaves while the world is stopped
};

struct shipped_text {
  static bool sleep(auto& env, auto& m) { return vole::rt::surplus::sleep(env, m, true); }
};

template <fault F>
struct faulty_text {
  static bool sleep(auto& env, auto& m) {
    bool too_many = true;
    while (too_many && !m.park.sleep_for(env.patience())) {
      const bool before = F == fault::looks_outside && m.idle.load(seq_cst);
      env.lock();
      const bool idle = F == fault::no_second_look ||
                        (F == fault::looks_outside ? before : env.is_idle_locked(m));
      too_many = idle && env.too_many_locked();
      const bool leaves =
          too_many && (F == fault::ignores_the_stop || !env.stopping().load(relaxed));
      if (leaves) vole::rt::parking::remove_idle_m_locked(env, m);
      env.unlock();
      if (leaves || (F == fault::does_not_wait && !idle)) return false;
    }
    m.park.sleep();
    return true;
  }
};

struct machine {
  note park;
  atomic<bool> idle{true};  // written under L
  atomic<bool> alive{true};
  int number = 0;
  int tries = 0;          // its own
  bool must_end = false;  // written before the wake
  model::var<int> next_p{0};
};

struct plan {
  int ms = 1, wakers = 1;
  bool ends = false;
  int kept = -1;  // so many may sleep for ever; -1: others, which are not shown, lie below
};

template <class Text>
struct house {
  model::mutex l;
  machine ms[kMs];
  model::var<int> on_list{0};  // under l
  struct {
    model::var<bool> is{false};  // under l
    bool load(std::memory_order) const { return is.get(); }
  } is_stopping;
  int sent = 0, arrived = 0, left = 0, told = 0, heard = 0;
  plan what;

  explicit house(plan w) : what(w) {
    static constexpr const char* kNames[] = {"m0", "m1"};
    static constexpr const char* kWakers[] = {"waker0", "waker1"};
    for (int i = 0; i < what.ms; ++i) {
      ms[i].number = i;
      model::name(model::atomic_in(ms[i], 0), i == 0 ? "park0" : "park1");
      model::name(model::atomic_in(ms[i], 1), i == 0 ? "idle0" : "idle1");
      on_list = on_list.get() | 1 << i;
      model::spawn_daemon(kNames[i], [this, &m = ms[i]] { be_idle(m); });
    }
    for (int i = 0; i < what.wakers; ++i) model::spawn(kWakers[i], [this] { start_m(); });
    if (what.ends) model::spawn("ender", [this] { end(); });
  }

  // ── the Env ──
  void lock() { l.lock(); }
  void unlock() { l.unlock(); }
  std::int64_t patience() const { return 1; }
  // In a world that stays stopped it would look for ever: twice is enough to see.
  bool is_idle_locked(machine& m) { return m.idle.load(relaxed) && ++m.tries <= 2; }
  bool too_many_locked() {
    const int n = __builtin_popcount(static_cast<unsigned>(on_list.get()));
    return n > what.kept;
  }
  auto& stopping() { return is_stopping; }
  auto& idle_ms() { return *this; }
  void leaves_idle(machine& m) { m.idle.store(false, seq_cst); }
  void remove(machine* m) { on_list = on_list.get() & ~(1 << m->number); }

  // ── the Ms ──
  void be_idle(machine& m) {
    if (Text::sleep(*this, m)) {
      m.must_end ? ++heard : arrived += m.next_p.get();
      return;
    }
    lock();  // as end_m
    ++left;
    m.alive.store(false, std::memory_order_release);
    unlock();
  }

  // A P for an idle M; for a new one if there is none.
  void start_m() {
    lock();
    const int all = is_stopping.is.get() ? 0 : on_list.get();
    machine* m = nullptr;
    if (all != 0) {
      m = &ms[__builtin_ctz(static_cast<unsigned>(all))];
      on_list = all & (all - 1);
      m->next_p = 1;
      m->idle.store(false, relaxed);
      ++sent;
    }
    unlock();
    if (m != nullptr) m->park.wake();
  }

  // As settle_threads and end_threads, if everybody sleeps at the first look.
  void end() {
    lock();
    is_stopping.is = true;
    unlock();
    for (int i = 0; i < what.ms; ++i)
      if (ms[i].alive.load(std::memory_order_acquire) && !ms[i].idle.load(seq_cst)) return;
    for (int i = 0; i < what.ms; ++i) {
      if (!ms[i].alive.load(std::memory_order_acquire)) continue;
      ms[i].must_end = true;
      ++told;
      ms[i].park.wake();
    }
  }

  void finish() {
    model::require(sent == arrived, "I7: a P was sent to an M that has ended");
    model::require(told == heard, "the end woke an M that had ended");
    int idle = 0;
    for (int i = 0; i < what.ms; ++i) idle += ms[i].idle.load(relaxed) ? 1 : 0;
    model::require(idle == __builtin_popcount(static_cast<unsigned>(on_list.get())),
                   "the idle list and the Ms disagree");
    model::require(what.ms - left >= what.kept, "too many have ended");
  }
};

using shipped = house<shipped_text>;

TEST(Surplus, APArrivesOrTheMWasGone) {
  const model::options o{.seconds = 3, .steps = 300};
  model::holds<shipped>("1 M, 1 waker", o, plan{});
  model::holds<shipped>("1 M, 2 wakers", o, plan{.wakers = 2});
  model::holds<shipped>("2 Ms, 1 waker", o, plan{.ms = 2});
  model::holds<shipped>("2 Ms, 1 waker, one is kept", o, plan{.ms = 2, .kept = 1});
  model::holds<shipped>("2 Ms, 2 wakers", {.preemptions = 2, .seconds = 3, .steps = 300},
                        plan{.ms = 2, .wakers = 2});
}

TEST(Surplus, TheEndFindsWhomItHasSeenAsleep) {
  const model::options o{.preemptions = 3, .seconds = 3, .steps = 300};
  model::holds<shipped>("1 M, the end", o, plan{.wakers = 0, .ends = true});
  model::holds<shipped>("1 M, 1 waker, the end", o, plan{.ends = true});
  model::holds<shipped>("2 Ms, 1 waker, the end", {.preemptions = 1, .seconds = 3, .steps = 300},
                        plan{.ms = 2, .ends = true});
}

TEST(Surplus, MutantsAreCaught) {
  const model::options o{.seconds = 3, .steps = 300};
  const plan end{.wakers = 0, .ends = true};
  model::catches<house<faulty_text<fault::no_second_look>>>("surplus: no second look", o, plan{});
  model::catches<house<faulty_text<fault::looks_outside>>>("surplus: looks before it has L", o,
                                                           plan{});
  model::catches<house<faulty_text<fault::does_not_wait>>>("surplus: does not wait for its wake", o,
                                                           plan{});
  model::catches<house<faulty_text<fault::ignores_the_stop>>>("surplus: leaves a stopped world", o,
                                                              end);
  model::holds<house<faulty_text<fault::none>>>("surplus: the mutants' common text", o, plan{});
}

}  // namespace
