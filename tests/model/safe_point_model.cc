// sched/hold/safe_point.h on the checker: one asks, Ms come and go with their Ps.
//
// Each M begins inside the runtime with a P of its own. It leaves for user code, looks for work, goes
// idle and comes back, or hands its P to a thread that was asleep; then it leaves and stays outside.
//
// Law    the function is run once for each P, never while somebody else uses it, and the asker sees
//        its writes. The asker visits once: that is enough wherever the runtime is left by attend().
//        A request of somebody else's, made meanwhile, is answered.
#include "sched/hold/safe_point.h"

#include "base/note.h"
#include "gmp/hot_words.h"
#include "mutants.h"

namespace {

using namespace vole::base;
namespace sp = vole::rt::safe_point;

constexpr int kPs = 2, kMs = 3;

struct machine;

struct proc {
  atomic<std::uint32_t> safe_point{0};
  atomic<machine*> m{nullptr};
  model::var<int> used{0};  // by its owner
  model::var<int> runs{0};  // of the function
};

struct machine {
  vole::rt::hot_words<proc> hot;
  model::mutex retake_lock;
  model::var<proc*> p{nullptr};  // under retake_lock
  model::var<proc*> next_p{nullptr};
  note park;
};

enum class fault {
  none,
  idle_is_not_run,       // O3 is left out
  taken_is_not_told,     // O2 is left out
  idle_is_not_asked,     // A1 without those on the idle list
  asked_after_the_idle,  // A1: the idle list first, outside of L
  look_before_clearing,  // O1: reads safe_point, then clears attention
  asks_late,             // A2: attention after the look
  no_barrier,
  clears_all,      // A3: whatever else was asked is lost
  leaves_at_once,  // leaving: takes the request back, and does not run it
  relaxed_ask,     // the store of A1 against the look of O2
  relaxed_count,   // who asked does not see what was written
};

struct plan {
  int procs = 1;
  int idle = 0;             // of those so many are idle at first
  bool hands_over = false;  // m0 may give its P to one asleep
  bool other = false;       // somebody else asks m0 for attention
};

struct house {
  model::mutex l;
  proc ps[kPs];
  machine ms[kMs];
  machine* hid[kPs] = {};
  model::var<int> idle{0};  // under l: bits
  atomic<std::uint32_t> left{0};
  atomic<int> asked{0}, answered{0};  // somebody else's
  fault f;
  plan what;

  house(fault which, plan w) : f(which), what(w) {
    model::name(model::atomic_in(ps[0], 0), "safe_point0");
    model::name(model::atomic_in(ps[0], 1), "p0.m");
    model::name(model::atomic_in(ms[0], 0), "in_rt0");
    model::name(model::atomic_in(ms[0], 2), "attention0");
    model::name(model::atomic_in(ms[0], 4), "hot.p0");
    model::name(model::atomic_in(left), "left");
    if (f == fault::no_barrier) model::drop(model::call::membarrier);
    if (f == fault::relaxed_count)
      model::weaken(model::atomic_in(left), model::access::rmw, relaxed);
    if (f == fault::relaxed_ask)
      for (proc& p : ps) {
        model::weaken(model::atomic_in(p, 0), model::access::store, release);
        model::weaken(model::atomic_in(p, 0), model::access::load, acquire);
      }
    static constexpr const char* kNames[] = {"m0", "m1", "m2"};
    const int held = what.procs - what.idle;
    for (int i = 0; i < what.procs; ++i) {
      if (i >= held) {
        idle = idle.get() | 1 << i;
        continue;
      }
      ms[i].p = &ps[i];
      ms[i].hot.p.store(&ps[i], relaxed);
      ps[i].m.store(&ms[i], relaxed);
      model::spawn(kNames[i], [this, i] { work(ms[i], i == 0); });
    }
    if (what.hands_over)
      model::spawn_daemon("sleeper", [this] {
        machine& m = ms[kMs - 1];
        m.park.sleep();
        acquire_p(m, m.next_p.get());
        leave(m);
      });
    model::spawn("asker", [this] { request(); });
    if (what.other)
      model::spawn("other", [this] {
        asked.store(1, seq_cst);
        ms[0].hot.attention.store(1, seq_cst);
      });
  }

  // ── the Env ──
  void lock() { l.lock(); }
  void unlock() { l.unlock(); }
  proc& p_at(std::uint32_t i) { return ps[i]; }
  bool is_idle_locked(std::uint32_t i) {
    return f != fault::idle_is_not_asked && (idle.get() & 1 << i) != 0;
  }
  machine* lock_owner(proc& p) {
    machine* const m = p.m.load(seq_cst);
    if (m == nullptr) return nullptr;
    m->retake_lock.lock();
    if (m->p.get() == &p) return m;
    m->retake_lock.unlock();
    return nullptr;
  }
  void unlock_owner(machine& m) { m.retake_lock.unlock(); }
  machine*& hidden(std::uint32_t i) { return hid[i]; }
  void membarrier() { model::membarrier(); }
  void call(proc& p) {
    use(p);
    p.runs = p.runs.get() + 1;
  }
  void count_one() {
    if (left.fetch_sub(1, acq_rel) == 1) futex_wake(&left, 1);
  }

  void use(proc& p) { p.used = p.used.get() + 1; }

  // ── who asks ──
  void request() {
    const auto n = static_cast<std::uint32_t>(what.procs);
    left.store(n, seq_cst);
    f == fault::asked_after_the_idle ? ask_all_late(n) : sp::ask_all(*this, n);
    f == fault::asks_late || f == fault::clears_all ? visit_faultily(n) : sp::visit_all(*this, n);
    for (std::uint32_t seen; (seen = left.load(acquire)) != 0;) futex_wait(&left, seen);
    for (int i = 0; i < what.procs; ++i)
      model::require(ps[i].runs.get() == 1, "not run once for each P");
  }
  void ask_all_late(std::uint32_t n) {
    lock();
    const int were_idle = idle.get();
    unlock();
    for (std::uint32_t i = 0; i < n; ++i) ps[i].safe_point.store(1, seq_cst);
    lock();
    for (std::uint32_t i = 0; i < n; ++i)
      if ((were_idle & idle.get() & 1 << i) != 0) sp::run(*this, ps[i]);
    unlock();
  }
  void visit_faultily(std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      hid[i] = lock_owner(ps[i]);
      if (hid[i] == nullptr) continue;
      if (f != fault::asks_late) sp::ask(hid[i]->hot);
      hid[i]->hot.hide();
    }
    membarrier();
    for (std::uint32_t i = 0; i < n; ++i) {
      machine* const m = hid[i];
      if (m == nullptr) continue;
      if (m->hot.look()) {
        sp::run(*this, ps[i]);
        f == fault::clears_all ? m->hot.attention.store(0, seq_cst) : (void)sp::take_back(m->hot);
      } else if (f == fault::asks_late) {
        sp::ask(m->hot);
      }
      m->hot.unhide(&ps[i]);
      unlock_owner(*m);
    }
  }

  // ── the Ms ──
  void work(machine& m, bool may_hand_over) {
    use(*m.p.get());
    switch (model::choose(what.hands_over && may_hand_over ? 5 : 4)) {
      case 0: break;
      case 1:
        leave(m);
        enter(m);
        use(*m.p.get());
        break;
      case 2: find(m); break;
      case 3:
        find(m);
        go_idle(m);
        if (proc* const p = model::choose(2) == 0 ? pop_idle() : nullptr) {
          acquire_p(m, p);
          use(*p);
          break;
        }
        m.hot.in_rt.store(0, release);
        return;
      default: return hand_over(m);
    }
    leave(m);
  }

  void enter(machine& m) {
    if (m.hot.enter() != nullptr) return;
    m.retake_lock.lock();  // behind it the P is back
    m.retake_lock.unlock();
  }

  void leave(machine& m) {
    while (m.hot.leave()) {
      enter(m);
      const bool only = sp::take_back(m.hot);
      if (only && f != fault::leaves_at_once) sp::run(*this, *m.p.get());
      if (!only) find(m);  // it yields
    }
  }

  void find(machine& m) {
    const bool early = f == fault::look_before_clearing;
    if (early) sp::run(*this, *m.p.get());
    m.hot.attention.store(0, seq_cst);
    if (asked.load(seq_cst) != 0) answered.store(1, relaxed);
    if (!early) sp::run(*this, *m.p.get());
  }

  void go_idle(machine& m) {
    lock();
    proc* const p = release_p(m);
    if (f != fault::idle_is_not_run) sp::run(*this, *p);
    const int bit = 1 << (p - ps);
    model::require((idle.get() & bit) == 0, "a P became idle twice");
    idle = idle.get() | bit;
    unlock();
  }

  proc* pop_idle() {
    lock();
    const int all = idle.get();
    proc* const p = all != 0 ? &ps[__builtin_ctz(static_cast<unsigned>(all))] : nullptr;
    if (p != nullptr) idle = all & (all - 1);
    unlock();
    return p;
  }

  void hand_over(machine& m) {
    machine& to = ms[kMs - 1];
    proc* const p = release_p(m);
    use(*p);
    to.next_p = p;
    to.park.wake();
    m.hot.in_rt.store(0, release);
  }

  void acquire_p(machine& m, proc* p) {
    m.retake_lock.lock();
    m.p = p;
    p->m.store(&m, seq_cst);
    m.hot.p.store(p, relaxed);
    if (f != fault::taken_is_not_told && p->safe_point.load(seq_cst) != 0) sp::ask(m.hot);
    m.retake_lock.unlock();
  }
  proc* release_p(machine& m) {
    m.retake_lock.lock();
    proc* const p = m.p.get();
    m.p = nullptr;
    m.hot.p.store(nullptr, relaxed);
    p->m.store(nullptr, seq_cst);
    m.retake_lock.unlock();
    return p;
  }

  void finish() {
    // An M that has a P has answered, or will when it next comes in.
    if (what.other && ms[0].p.get() != nullptr)
      model::require(answered.load(relaxed) != 0 || ms[0].hot.attention.load(relaxed) != 0,
                     "another request was lost");
  }
};

TEST(SafePoint, OnceForEachP) {
  model::holds<house>("1 P", {.seconds = 4}, fault::none, plan{});
  model::holds<house>("1 P, idle", {}, fault::none, plan{.idle = 1});
  model::holds<house>("1 P, handed over", {.preemptions = 3, .seconds = 3}, fault::none,
                      plan{.hands_over = true});
  model::holds<house>("1 P, another request", {.preemptions = 3, .seconds = 3}, fault::none,
                      plan{.other = true});
}

TEST(SafePoint, OnceForEachOfTwoPs) {
  model::holds<house>("2 Ps", {.preemptions = 3, .seconds = 3}, fault::none, plan{.procs = 2});
  model::holds<house>("2 Ps, one idle", {.preemptions = 3, .seconds = 5}, fault::none,
                      plan{.procs = 2, .idle = 1});
  model::holds<house>("2 Ps, one handed over", {.random = 40'000}, fault::none,
                      plan{.procs = 2, .hands_over = true});
}

TEST(SafePoint, MutantsAreCaught) {
  const model::options o{.seconds = 5};
  const auto caught = [&](const char* name, fault f, plan p = {}) {
    model::catches<house>(name, o, f, p);
  };
  caught("safe point: a P goes idle without", fault::idle_is_not_run);
  caught("safe point: who takes a P is not told", fault::taken_is_not_told,
         plan{.hands_over = true});
  caught("safe point: idle Ps are left out", fault::idle_is_not_asked, plan{.idle = 1});
  caught("safe point: asked after the idle list", fault::asked_after_the_idle);
  caught("safe point: looked before clearing", fault::look_before_clearing);
  caught("safe point: attention after the look", fault::asks_late);
  caught("safe point: barrier dropped", fault::no_barrier);
  caught("safe point: clears another request", fault::clears_all, plan{.other = true});
  caught("safe point: leaves without running it", fault::leaves_at_once);
  caught("safe point: relaxed ask", fault::relaxed_ask, plan{.hands_over = true});
  caught("safe point: relaxed count", fault::relaxed_count);
}

}  // namespace
