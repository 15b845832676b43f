// sched/work/inbox.h on the checker: a home that goes to sleep, in either place, or sits in user code
// without a P; others that deliver to it; one that has picked its goroutine and has a P to give.
//
// Law    whoever was delivered is run by the home, or by somebody else if the home is shut, once. Nobody
//        stays in the inbox of a home that sleeps, or in the global queue beside an idle P.
#include "sched/work/inbox.h"

#include "base/note.h"
#include "mutants.h"

namespace {

using namespace vole::base;
namespace inbox = vole::rt::inbox;

enum class fault {
  none,
  no_last_look,     // goes to sleep without reading its mail
  looks_first,      // who delivers reads `idle` before it puts the goroutine in
  stays_open,       // who takes the P empties the inbox, and does not shut it
  no_interrupt,     // the home in the poller is not told
  leaves_it_there,  // no P is idle: the mail stays in the inbox of one who sleeps
};

struct goroutine {
  goroutine* next = nullptr;
};
struct processor {};

struct machine {
  note park;
  atomic<bool> idle{false}, polling{false};
  struct {
    atomic<std::uint32_t> mail{0};
    atomic<bool> shut{false};
  } home;
};

struct plan {
  int deliverers = 1;
  bool picker = false;  // one with a P, who has picked a goroutine of the home's
  bool sits = false;    // the home is in user code for ever, and sysmon takes its P
  bool polls = false;   // the home waits in the poller, not on its note
  bool asleep = false;  // the home has no P to begin with; only the picker has one
  int idle_ps = 0;      // beside the home's own
  bool empty_handed = false;  // the picker has a P, and has picked nothing yet
};

template <fault F>
struct house {
  model::mutex l, box;
  machine m;
  note event;  // what the poller waits for
  atomic<std::uint32_t> interrupted{0};
  model::var<int> idle_ps{0};       // under l
  model::var<int> global{0};        // under l
  model::var<bool> on_list{false};  // under l
  model::var<int> in_box{0};        // under box
  model::var<int> next_p{0};        // by the waker
  goroutine gs[4];
  processor the_p;
  atomic<int> ran{0}, elsewhere{0};
  plan what;

  explicit house(plan w) : what(w) {
    idle_ps = what.idle_ps;
    model::name(model::atomic_in(m.idle), "idle");
    model::name(model::atomic_in(m.home.mail), "mail");
    static constexpr const char* kNames[] = {"deliverer0", "deliverer1"};
    model::spawn_daemon("home", [this] { what.sits ? void() : live(); });
    for (int i = 0; i < what.deliverers; ++i)
      model::spawn(kNames[i], [this, i] { deliver(&gs[i]); });

    if (what.picker) model::spawn("picker", [this] { pick(); });
    if (what.sits) model::spawn("sysmon", [this] { evict(); });
  }

  // ── the Env ──
  void lock() { l.lock(); }
  void unlock() { l.unlock(); }
  void lock_inbox(machine&) { box.lock(); }
  void unlock_inbox(machine&) { box.unlock(); }
  void append_locked(machine&, goroutine*) { in_box = in_box.get() + 1; }
  goroutine* pop_locked(machine&) {
    if (in_box.get() == 0) return nullptr;
    in_box = in_box.get() - 1;
    return &gs[0];
  }
  int take_all_locked(machine&) {
    const int n = in_box.get();
    in_box = 0;
    return n;
  }
  void set_mail_locked(machine& h, std::uint32_t n) { h.home.mail.store(n, seq_cst); }
  processor* pop_idle_p_locked(machine&) {
    if (idle_ps.get() == 0) return nullptr;
    idle_ps = idle_ps.get() - 1;
    return &the_p;
  }
  bool may_wake_locked(machine& h) {
    return h.idle.load(relaxed) && h.home.mail.load(seq_cst) != 0;
  }
  void remove_idle_m_locked(machine& h) {
    model::require(on_list.get(), "taken off the idle list twice");
    h.idle.store(false, seq_cst);
    on_list = false;
  }
  void mail_to_global_locked(machine& h) {
    if (F == fault::leaves_it_there) return;
    box.lock();
    global = global.get() + take_all_locked(h);
    set_mail_locked(h, 0);
    box.unlock();
  }
  void wake(machine& h, processor*) {
    next_p = 1;
    h.park.wake();
  }
  void interrupt_poller() {
    if (F == fault::no_interrupt) return;
    if (interrupted.exchange(1, seq_cst) == 0) event.wake();
  }

  // ── the home ──
  void live() {
    if (what.asleep && !stop()) return;
    for (;;) {  // with a P
      while (inbox::take(*this, m) != nullptr) ran.fetch_add(1, relaxed);
      lock();
      if (global.get() != 0) {  // D1; what it finds there is its own
        ran.fetch_add(global.get(), relaxed);
        global = 0;
        unlock();
        continue;
      }
      idle_ps = idle_ps.get() + 1;
      unlock();
      if (what.polls && poll()) continue;
      if (!stop()) return;
    }
  }
  bool poll() {  // true: with a P
    what.polls = false;
    m.polling.store(true, seq_cst);
    if (m.home.mail.load(seq_cst) == 0) event.sleep();
    m.polling.store(false, seq_cst);
    lock();
    const bool got = pop_idle_p_locked(m) != nullptr;
    unlock();
    return got;
  }
  bool stop() {
    lock();
    m.idle.store(true, seq_cst);
    on_list = true;
    processor* const p = F == fault::no_last_look ? nullptr : inbox::last_look_locked(*this, m);
    unlock();
    if (p != nullptr) return true;
    m.park.sleep();
    m.park.clear();
    return next_p.get() == 1;
  }

  // ── the others ──
  struct nothing_to_spare {
    static bool offers() { return false; }
    static processor* give() { return nullptr; }
  };
  struct own_p {
    house& h;
    int in_ring = 0;  // travels with the P: there before anybody has it
    bool gave = false;
    bool offers() const { return true; }
    processor* give() {
      if (in_ring != 0) h.back_to_global(in_ring);
      gave = true;
      return &h.the_p;
    }
  };

  void deliver(goroutine* g) {
    if constexpr (F == fault::looks_first) {
      const bool asleep = m.idle.load(seq_cst);
      if (!inbox::put(*this, m, g)) {
        elsewhere.fetch_add(1, relaxed);
      } else if (asleep) {
        inbox::attend_to(*this, m, nothing_to_spare());
      }
      return;
    }
    if (!inbox::put(*this, m, g)) {
      elsewhere.fetch_add(1, relaxed);
    } else {
      inbox::attend_to(*this, m, nothing_to_spare());
    }
  }

  // It has a P. First the one in its hands, then what is in the global queue; it goes idle when that
  // is empty.
  void pick() {
    bool has = true;
    for (int left = what.empty_handed ? 0 : 1; has;) {
      if (left == 0) {
        lock();
        left = global.get();
        global = 0;
        if (left == 0) idle_ps = idle_ps.get() + 1;
        unlock();
        if (left == 0) return;
      }
      --left;
      if (!inbox::put(*this, m, &gs[3])) {
        elsewhere.fetch_add(1, relaxed);
        continue;
      }
      own_p mine{*this, left};
      give_to_home(mine);
      has = !mine.gave;
    }
  }
  void give_to_home(own_p& mine) {
    struct lends {
      own_p& o;
      bool offers() const { return o.offers(); }
      processor* give() { return o.give(); }
    };
    inbox::attend_to(*this, m, lends{mine});
  }
  void back_to_global(int n) {
    lock();
    global = global.get() + n;
    unlock();
  }

  void evict() {
    int all = 0;
    if constexpr (F == fault::stays_open) {
      box.lock();
      all = take_all_locked(m);
      set_mail_locked(m, 0);
      box.unlock();
    } else {
      all = inbox::shut(*this, m);
    }
    elsewhere.fetch_add(all, relaxed);
  }

  void finish() {
    const int all = what.deliverers + (what.picker && !what.empty_handed ? 1 : 0);
    const int done = ran.load(relaxed) + elsewhere.load(relaxed);
    model::require(done <= all, "somebody ran twice");
    const bool a_p_is_idle = idle_ps.get() != 0;
    const int waits = global.get();
    model::require(!a_p_is_idle || waits == 0, "in the global queue beside an idle P");
    model::require(done + waits == all, "somebody stays in the inbox");
  }
};

TEST(Inbox, WhoIsDeliveredIsRun) {
  const model::options o{.preemptions = 3, .seconds = 4, .steps = 400};
  model::holds<house<fault::none>>("1 delivers, the home sleeps", o, plan{});
  model::holds<house<fault::none>>("2 deliver, the home sleeps", o, plan{.deliverers = 2});
  model::holds<house<fault::none>>("1 delivers, 1 has picked one", o, plan{.picker = true});
  model::holds<house<fault::none>>("1 delivers, 1 has the only P", o,
                                   plan{.picker = true, .asleep = true});
  model::holds<house<fault::none>>("2 deliver, 1 has the only P", o,
                                   plan{.deliverers = 2, .picker = true, .asleep = true});
  model::holds<house<fault::none>>("1 delivers, 1 has the only P and goes idle", o,
                                   plan{.picker = true, .asleep = true, .empty_handed = true});
  model::holds<house<fault::none>>("1 delivers, the home polls", o, plan{.polls = true});
  model::holds<house<fault::none>>("2 deliver, the home polls", o,
                                   plan{.deliverers = 2, .polls = true});
  model::holds<house<fault::none>>("2 deliver, the home loses its P", o,
                                   plan{.deliverers = 2, .sits = true});
}

TEST(Inbox, MutantsAreCaught) {
  const model::options o{.seconds = 4, .steps = 400};
  model::catches<house<fault::no_last_look>>("inbox: no last look", o, plan{});
  model::catches<house<fault::looks_first>>("inbox: looks before it puts it in", o, plan{});
  model::catches<house<fault::stays_open>>("inbox: is not shut", o,
                                           plan{.deliverers = 1, .sits = true});
  model::catches<house<fault::no_interrupt>>("inbox: the poller is not told", o,
                                             plan{.polls = true});
  model::catches<house<fault::leaves_it_there>>("inbox: mail of one who sleeps stays", o,
                                                plan{.picker = true, .asleep = true});
}

}  // namespace
