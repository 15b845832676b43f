// gmp/hot_words.h on the checker: a worker enters and leaves, takers take its P away.
//
// The worker uses its P inside the runtime, gives it up when asked to, and fetches
// an idle one when its own has gone. A taker that gets the P uses it and then puts
// it on the idle list, or gives it back. There is a spare P, so that a worker too early at the idle
// list is found out.
//
// Law    nobody uses a P at the same time as another (a race on its var). At the end
//        each P has one owner. A look that failed has been answered: the worker saw
//        `attention` when it left.
#include "gmp/hot_words.h"

#include "mutants.h"

namespace {

using namespace vole::base;

struct proc {
  model::var<int> used{0};
};

enum class fault {
  none,
  no_barrier,          // between hide and look
  look_first,          // and hide afterwards
  flag_first,          // leave tests attention before it clears in_rt
  undo_unlocked,       // p is put back after the lock has been released
  slow_path_unlocked,  // the worker does not take the lock
  asks_late,           // attention is set after the look
  relaxed_leave,
  relaxed_look,
  none_gives_back,     // no fault: the taker uses p and puts it back, as world::start does
  relaxed_unhide,      // the same, but the worker may not see that use
  relaxed_enter,
};

struct taking_away {
  vole::rt::hot_words<proc> hot;
  model::mutex retake_lock, l;
  proc own, spare;
  model::var<int> idle{2};    // under l. Bit 0: own; bit 1: spare
  model::var<bool> asked{false};  // under retake_lock: a look failed and waits for its answer
  fault f;
  bool answers;  // check those, too

  taking_away(fault which, int rounds, int takers, int tries, bool check_answers = true)
      : f(which), answers(check_answers) {
    model::name(model::atomic_in(hot, 0), "in_rt");
    model::name(model::atomic_in(hot, 2), "attention");
    model::name(model::atomic_in(hot, 4), "p");
    if (f == fault::no_barrier) model::drop(model::call::membarrier);
    if (f == fault::relaxed_leave)
      model::weaken(model::atomic_in(hot, 0), model::access::store, relaxed);
    if (f == fault::relaxed_look)
      model::weaken(model::atomic_in(hot, 0), model::access::load, relaxed);
    if (f == fault::relaxed_unhide)
      model::weaken(model::atomic_in(hot, 4), model::access::store, relaxed);
    if (f == fault::relaxed_enter)
      model::weaken(model::atomic_in(hot, 4), model::access::load, relaxed);
    hot.p.store(&own, relaxed);
    model::spawn("worker", [this, rounds] { work(rounds); });
    for (int i = 0; i < takers; ++i) {
      model::spawn(i == 0 ? "taker" : "taker2", [this, tries] {
        for (int n = 0; n < tries; ++n) take();
      });
    }
  }

  void use(proc* p) { p->used = p->used.get() + 1; }
  int bit(proc* p) { return p == &own ? 1 : 2; }

  void push_idle(proc* p) {
    l.lock();
    model::require((idle.get() & bit(p)) == 0, "a P became idle twice");
    idle = idle.get() | bit(p);
    l.unlock();
  }
  proc* pop_idle() {
    l.lock();
    const int all = idle.get();
    proc* const p = (all & 1) != 0 ? &own : (all & 2) != 0 ? &spare : nullptr;
    if (p != nullptr) idle = all & ~bit(p);
    l.unlock();
    return p;
  }

  // ── the worker ──
  void work(int rounds) {
    use(&own);
    leave();
    for (int n = 0; n < rounds; ++n) {
      proc* p = hot.enter();
      if (p == nullptr) p = fetch();
      use(p);
      leave();
    }
  }

  proc* fetch() {
    if (f != fault::slow_path_unlocked) retake_lock.lock();
    proc* p = hot.p.load(relaxed);
    if (p == nullptr) {
      p = pop_idle();
      hot.p.store(p, relaxed);
    }
    if (f != fault::slow_path_unlocked) retake_lock.unlock();
    model::require(p != nullptr, "both Ps are away");
    return p;
  }

  bool leave_once() {
    if (f != fault::flag_first) return hot.leave();
    const bool wanted = hot.attention.load(relaxed) != 0;
    hot.in_rt.store(0, std::memory_order_release);
    return wanted;
  }

  void leave() {
    while (leave_once()) {
      hot.enter();
      retake_lock.lock();
      hot.attention.store(0, relaxed);
      asked = false;
      proc* const p = hot.p.load(relaxed);
      hot.p.store(nullptr, relaxed);
      if (p != nullptr) push_idle(p);
      retake_lock.unlock();
    }
  }

  // ── the takers ──
  void take() {
    retake_lock.lock();
    if (f != fault::asks_late) hot.attention.store(1, relaxed);
    const bool early = f == fault::look_first && hot.look();
    proc* const was = hot.hide();
    model::membarrier();
    const bool ours = f == fault::look_first ? early : hot.look();
    if (f == fault::asks_late) hot.attention.store(1, relaxed);
    if (was == nullptr) {
      retake_lock.unlock();
      return;
    }
    if (!ours) asked = true;
    const bool gives_back = f >= fault::none_gives_back;
    if (ours && gives_back) use(was);
    const bool restore = !ours || gives_back;
    if (restore && f != fault::undo_unlocked) hot.unhide(was);
    retake_lock.unlock();
    if (restore && f == fault::undo_unlocked) hot.unhide(was);
    if (restore) return;
    use(was);
    push_idle(was);
  }

  // retake::expose. Attention is the takers' business: one of theirs may be on its way.
  void expose(bool clears_attention) {
    retake_lock.lock();
    proc* const was = hot.hide();
    if (was != nullptr) {
      model::membarrier();
      const bool ours = hot.look();
      if (ours) use(was);
      if (ours && clears_attention) hot.attention.store(0, relaxed);
      hot.unhide(was);
    }
    retake_lock.unlock();
  }

  void finish() {
    proc* const p = hot.p.load(relaxed);
    model::require(!answers || !asked.get(), "a failed look was not answered");
    model::require((idle.get() | (p == nullptr ? 0 : bit(p))) == 3, "a P is lost");
    model::require(p == nullptr || (idle.get() & bit(p)) == 0, "a P has two owners");
  }
};

struct exposing : taking_away {
  explicit exposing(bool clears_attention) : taking_away(fault::none, 1, 1, 1) {
    model::spawn("sysmon", [this, clears_attention] { expose(clears_attention); });
  }
};

TEST(Retake, ExposeTakesItForAMoment) {
  const model::options o{.preemptions = 4, .seconds = 5};
  model::holds<exposing>("expose beside a taker", o, false);
  model::catches<exposing>("expose: clears the attention", o, true);
}

TEST(Retake, OneUserPerP) {
  model::holds<taking_away>("retake: 1 round, 1 taker", {}, fault::none, 1, 1, 1);
  model::holds<taking_away>("retake: 2 rounds, 1 taker", {.seconds = 4}, fault::none, 2, 1, 1);
  model::holds<taking_away>("retake: 3 rounds, 1 taker", {.seconds = 3}, fault::none, 3, 1, 1);
  model::holds<taking_away>("retake: 1 round, 1 taker, twice", {.seconds = 3}, fault::none, 1, 1,
                            2);
}

TEST(Retake, OneUserPerPWithTwoTakers) {
  model::holds<taking_away>("retake: 1 round, 2 takers", {.preemptions = 3, .seconds = 4},
                            fault::none, 1, 2, 1);
  model::holds<taking_away>("retake: 3 rounds, 2 takers", {.random = 40'000}, fault::none, 3, 2,
                            2);
}

TEST(Retake, PThatIsGivenBackIsSeenAsItWasLeft) {
  model::holds<taking_away>("retake: given back", {.seconds = 4}, fault::none_gives_back, 2, 1, 1);
  model::holds<taking_away>("retake: given back twice", {.seconds = 3}, fault::none_gives_back, 1,
                            1, 2);
}

TEST(Retake, MutantsAreCaught) {
  const model::options o{.seconds = 5};
  const auto caught = [&](const char* name, fault f, bool answers = true) {
    model::catches<taking_away>(name, o, f, 2, 1, 1, answers);
  };
  caught("retake: barrier dropped", fault::no_barrier);
  caught("retake: barrier dropped, users only", fault::no_barrier, false);
  caught("retake: hide after look", fault::look_first);
  caught("retake: hide after look, users only", fault::look_first, false);
  caught("retake: flag tested before the store", fault::flag_first);
  caught("retake: undo without the lock", fault::undo_unlocked);
  caught("retake: slow path without the lock", fault::slow_path_unlocked);
  caught("retake: attention after the look", fault::asks_late);
  caught("retake: relaxed leave", fault::relaxed_leave);
  caught("retake: relaxed look", fault::relaxed_look);
  caught("retake: relaxed unhide", fault::relaxed_unhide);
  caught("retake: relaxed enter", fault::relaxed_enter);
}

}  // namespace
