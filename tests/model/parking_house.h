// A small runtime around the parking protocol: Ps with a runnext and a ring, a global
// queue, Ms that find, run, go idle and sleep on notes (docs/design/0003-wake-ups.md).
//
// Who    parking_model.cc. Text is the protocol: the shipped one or a mutant of it.
// Law    I1 at the end: no work is queued while a P is idle. I2: spinning never falls
//        below 0 and ends at 0. I4: each P has one owner; whoever holds it touches its
//        var. Every G runs once. A stopper that goes on owns every P, and no P is idle.
// Note   a ring is a set of bits taken by compare-and-swap: the order within it is
//        local_queue_model's business. A G displaced from runnext is pushed with a
//        release only, as into the real ring, and after S1's exchange; so it needs a
//        fence of its own before S3.
#pragma once

#include <utility>

#include "base/note.h"
#include "explore.h"
#include "sched/work/parking.h"

namespace {

using namespace vole::base;

constexpr int kPs = 3, kMs = 6;

struct proc {
  atomic<int> runnext{0};  // a G's bit, or 0
  atomic<int> ring{0};
  model::var<int> held{0};
  int id = 0;
};

// What the waker writes before the wake, behind an atomic: a plain member that is checked.
template <class T>
class told {
 public:
  void operator=(T value) { value_ = value; }
  operator T() const { return value_.get(); }

 private:
  model::var<T> value_{};
};

struct machine {
  int id = 0;
  told<bool> spinning;
  proc* p = nullptr;
  told<proc*> next_p;
  note park;
};

// Elements of an array; the first is always the next.
template <class T>
class set {
 public:
  T* of = nullptr;
  int bits() const { return bits_.get(); }
  T* top() const {
    return bits() == 0 ? nullptr : of + __builtin_ctz(static_cast<unsigned>(bits()));
  }
  void push(T* e) {
    of = e - e->id;
    model::require((bits() & 1 << e->id) == 0, "I4: became idle twice");
    bits_ = bits() | 1 << e->id;
  }
  T* pop() {
    T* const e = top();
    if (e != nullptr) bits_ = bits() & (bits() - 1);
    return e;
  }

 private:
  model::var<int> bits_{0};
};

struct house_plan {
  int procs = 2;
  int local = 0;         // Gs that the submitter with a P (P 0) makes
  int global = 0;        // Gs that a plain thread makes
  bool stays = true;     // the submitter keeps P 0 in user code; else it becomes a worker
  int steals = 1;        // does a worker that is not spinning start to [13]? 0: no, 2: either
  bool endless = false;  // a G that a worker runs does not end
  int busy = 0;          // workers that hold a P from the start, just out of a G
  int searching = 0;     // workers that do and spin
  int returning = 0;     // Ms out of a system call, which take an idle P if there is one [24]
  int handing = 0;       // Ms that hold a P, and hand it off
  int retiring = 0;      // Ms that hold a P with a G in its ring, and retire
  bool stops = false;    // somebody stops the world, and starts it
  bool refused = false;  // there is no M but those
  int asleep = 2;        // further Ms
  bool weak_s1 = false, weak_d2 = false, weak_s3 = false, no_fence = false;
};

template <class Text>
struct house {
  vole::rt::parking::state state;
  model::mutex l;
  proc ps[kPs];
  machine ms[kMs];
  model::var<int> global{0};  // under l
  atomic<int> global_size{0};
  set<proc> idle_p_list;     // under l
  set<machine> idle_m_list;  // under l
  atomic<int> idle_count{0};
  atomic<bool> is_stopping{false};
  model::var<std::uint32_t> left_to_stop{0};  // under l
  note stopped, asked;
  model::var<bool> is_asked{false}, is_set_aside{false};  // under l
  int made = 0, in_user_code = 0;
  int ran[8] = {};
  house_plan plan;

  explicit house(house_plan what) : plan(what) {
    for (int i = 0; i < kMs; ++i) ms[i].id = i;
    for (int i = 0; i < kPs; ++i) ps[i].id = i;
    const int spinning = model::atomic_in(state, 0);
    model::name(spinning, "spinning");
    model::name(model::atomic_in(state, 1), "need");
    model::name(model::atomic_in(ps[0], 0), "runnext0");
    model::name(model::atomic_in(ps[0], 1), "ring0");
    model::name(model::atomic_in(ps[1], 0), "runnext1");
    model::name(model::atomic_in(ps[1], 1), "ring1");
    model::name(model::atomic_in(global_size), "global_size");
    if (plan.weak_s1) model::weaken(model::atomic_in(ps[0], 0), model::access::rmw, acq_rel);
    if (plan.weak_s1) model::weaken(model::atomic_in(global_size), model::access::store, release);
    if (plan.weak_d2) model::weaken(spinning, model::access::rmw, relaxed);
    if (plan.weak_s3) model::weaken(spinning, model::access::load, acquire);
    if (plan.no_fence) model::drop(model::call::fence);
    int p = 0, m = 0;
    if (plan.local > 0) {
      ms[m].p = &ps[p++];
      model::spawn_daemon("submitter", [this, &me = ms[m]] { make_local(me); });
      ++m;
    }
    static constexpr const char* kNames[] = {"m0", "m1", "m2", "m3", "m4", "m5"};
    for (int i = 0; i < plan.busy + plan.searching; ++i, ++m) {
      ms[m].p = &ps[p++];
      ms[m].spinning = i >= plan.busy;
      model::spawn_daemon(kNames[m], [this, &me = ms[m]] { work(me); });
    }
    for (int i = 0; i < plan.returning; ++i, ++m)
      model::spawn_daemon(kNames[m], [this, &me = ms[m]] { come_back(me); });
    for (int i = 0; i < plan.handing; ++i, ++m) {
      ms[m].p = &ps[p++];
      model::spawn_daemon(kNames[m], [this, &me = ms[m]] { hand_over(me); });
    }
    for (int i = 0; i < plan.retiring; ++i, ++m) {
      ms[m].p = &ps[p++];
      ms[m].p->ring.store(1 << (6 + i), relaxed);
      ++made;
      model::spawn_daemon(kNames[m], [this, &me = ms[m]] { retire(me); });
    }
    if (plan.retiring != 0 || plan.refused) model::spawn_daemon("sysmon", [this] { watch(); });
    if (plan.stops) model::spawn("stopper", [this] { stop_and_start(); });
    for (int i = 0; i < plan.asleep; ++i, ++m) {
      idle_m_list.push(&ms[m]);
      model::spawn_daemon(kNames[m], [this, &me = ms[m]] {
        wait_for_p(me);
        work(me);
      });
    }
    model::require(m <= kMs && p <= plan.procs, "the plan has too many Ms");
    idle_count.store(plan.procs - p, relaxed);
    for (; p < plan.procs; ++p) idle_p_list.push(&ps[p]);
    state.spinning.store(plan.searching, relaxed);
    if (plan.global > 0) model::spawn("plain", [this] { make_global(); });
  }

  // ── the Env ──
  vole::rt::parking::state& parking_state() { return state; }
  void lock() { l.lock(); }
  void unlock() { l.unlock(); }
  auto& idle_ps() { return idle_p_list; }
  auto& idle_ms() { return idle_m_list; }
  auto& idle_p_count() { return idle_count; }
  auto& stopping() { return is_stopping; }
  std::uint32_t stop_wait_locked() const { return left_to_stop.get(); }
  void set_stop_wait_locked(std::uint32_t n) { left_to_stop = n; }
  auto& idle_mask() {
    static struct {
      void set(int) {}
      void clear(int) {}
    } ignored;
    return ignored;
  }

  bool is_idle_locked(const proc& p) { return (idle_p_list.bits() & 1 << p.id) != 0; }
  void becomes_idle_locked(proc& p) {
    touch(p);
    model::require(!plan.stops || !is_stopping.load(relaxed), "I4: a P becomes idle in a stop");
    model::require(plan.retiring == 0 || p.ring.load(relaxed) == 0, "I4: an idle P has work");
  }
  void leaves_idle_locked(proc& p, int) { touch(p); }
  void becomes_stopped(proc& p) { touch(p); }
  void wake_stopper_locked() { stopped.wake(); }
  proc* release_p(machine& m) { return std::exchange(m.p, nullptr); }
  void is_handed_off(proc& p) { touch(p); }
  void is_set_aside_locked() { is_set_aside = true; }
  void drain_queue_locked(proc& p) {
    touch(p);
    const int all = p.runnext.exchange(0, seq_cst) | (rings() ? p.ring.exchange(0, seq_cst) : 0);
    if (all != 0) set_global(global.get() | all);
  }

  void becomes_idle(machine&) {}  // surplus_model's business
  void leaves_idle(machine&) {}
  machine* new_m_locked() {
    model::require(plan.refused, "the model has too few Ms");
    return nullptr;
  }
  void starts_locked(machine&) {}
  void wake(machine& m) { m.park.wake(); }
  void deliver(machine&) {}
  void tell_limit() {}

  bool has_work(proc& p) {
    touch(p);
    return p.runnext.load(seq_cst) != 0 || (rings() && p.ring.load(seq_cst) != 0);
  }
  bool has_global_work() { return global_size.load(seq_cst) != 0; }
  bool has_global_work_locked() { return global.get() != 0; }
  bool must_keep_polling_locked() { return false; }
  void tell_poller() {}
  void acquire_p(machine& m, proc* p) {
    m.p = p;
    touch(*p);
  }
  bool any_work() {
    if (global_size.load(seq_cst) != 0) return true;
    for (int i = 0; i < plan.procs; ++i)
      if (ps[i].runnext.load(seq_cst) != 0 || (rings() && ps[i].ring.load(seq_cst) != 0))
        return true;
    return false;
  }

  // ── Ms ──
  bool rings() const { return plan.local > 1 || plan.retiring > 0; }  // else they stay empty
  void touch(proc& p) { p.held = p.held.get() + 1; }

  void wait_for_p(machine& m) {
    m.park.sleep();
    m.park.clear();
    m.p = m.next_p;
    touch(*m.p);
  }

  void stop_m(machine& m) {
    model::require(!m.spinning && m.p == nullptr, "I3: asleep with a P, or spinning");
    l.lock();
    vole::rt::parking::push_idle_m_locked(*this, m);
    if (plan.refused && is_set_aside.get()) ask_locked();
    l.unlock();
    wait_for_p(m);
  }

  void work(machine& m) {
    for (;;) {
      if (plan.stops && is_stopping.load(seq_cst)) {
        vole::rt::parking::stop_here(*this, m);
        stop_m(m);
      } else if (const int g = find(m); g != 0) {
        if (m.spinning) Text::found_work(*this, m);
        run(g);
        touch(*m.p);
        if (plan.endless) {
          ++in_user_code;
          return;
        }
      } else if (Text::go_idle(*this, m) == vole::rt::parking::verdict::sleep) {
        stop_m(m);
      }
    }
  }

  void come_back(machine& m) {
    l.lock();
    proc* const p = vole::rt::parking::pop_idle_p_locked(*this);
    l.unlock();
    if (p == nullptr) stop_m(m);
    if (p != nullptr) acquire_p(m, p);
    work(m);
  }

  void hand_over(machine& m) {
    vole::rt::parking::hand_off(*this, release_p(m));
    stop_m(m);
    work(m);
  }

  void retire(machine& m) {
    l.lock();
    if (!is_stopping.load(relaxed)) {
      vole::rt::parking::retire_locked(*this, m);
      ask_locked();
    }
    l.unlock();
    if (m.p == nullptr) stop_m(m);
    work(m);
  }

  // ── sysmon ── It asks again when it helps: when a P has retired, or has no thread and there is one.
  void ask_locked() {
    is_set_aside = false;
    if (!is_asked.get()) asked.wake();
    is_asked = true;
  }
  void watch() {
    for (;;) {
      asked.sleep();
      l.lock();
      asked.clear();
      is_asked = false;
      l.unlock();
      Text::submit(*this);
    }
  }

  // ── the stopper ──
  void stop_and_start() {
    const auto n = static_cast<std::uint32_t>(plan.procs);
    if (!vole::rt::parking::begin_stop(*this, n, [](proc&) {})) stopped.sleep();
    for (int i = 0; i < plan.procs; ++i) touch(ps[i]);
    model::require(idle_count.load(relaxed) == 0, "I4: a P is idle in a stopped world");
    l.lock();
    vole::rt::parking::end_stop_locked(*this);
    l.unlock();
    for (int i = 0; i < plan.procs; ++i) vole::rt::parking::hand_off(*this, &ps[i]);
    if (global_size.load(seq_cst) != 0) Text::submit(*this);
  }

  void run(int g) { model::require(++ran[__builtin_ctz(static_cast<unsigned>(g))] == 1, "twice"); }

  int find(machine& m) {
    touch(*m.p);
    if (const int g = take(*m.p); g != 0) return g;
    if (const int g = take_global(); g != 0) return g;
    if (!m.spinning && (plan.steals == 0 || (plan.steals == 2 && model::choose(2) == 0))) return 0;
    if (!m.spinning) Text::become_spinning(*this, m);
    for (int i = 0; i < plan.procs; ++i)
      if (&ps[i] != m.p)
        if (const int g = take(ps[i]); g != 0) return g;
    return 0;
  }

  int take(proc& p) {
    int g = p.runnext.load(std::memory_order_acquire);
    if (g != 0 && p.runnext.compare_exchange_strong(g, 0, seq_cst)) return g;
    if (!rings()) return 0;
    int all = p.ring.load(std::memory_order_acquire);
    while (all != 0)
      if (p.ring.compare_exchange_strong(all, all & (all - 1), acq_rel)) return all & -all;
    return 0;
  }

  int take_global() {
    if (global_size.load(relaxed) == 0) return 0;
    l.lock();
    const int all = global.get();
    if (all != 0) set_global(all & (all - 1));
    l.unlock();
    return all & -all;
  }
  void set_global(int all) {
    global = all;
    global_size.store(__builtin_popcount(static_cast<unsigned>(all)), seq_cst);
  }

  // ── submitters ──
  void make_local(machine& m) {
    for (int n = 0; n < plan.local; ++n) {
      touch(*m.p);
      const int was = m.p->runnext.exchange(1 << n, seq_cst);  // S1
      if (was != 0) {
        m.p->ring.fetch_or(was, std::memory_order_release);
        fence_seq_cst();
      }
      Text::submit(*this);
    }
    made += plan.local;
    plan.stays ? (void)++in_user_code : work(m);
  }
  void make_global() {
    for (int n = 0; n < plan.global; ++n) {
      l.lock();
      set_global(global.get() | 1 << (4 + n));
      l.unlock();
      Text::submit(*this);
    }
    made += plan.global;
  }

  void finish() {
    int left = global.get(), all = 0;
    for (proc& p : ps) left |= p.runnext.load(relaxed) | p.ring.load(relaxed);
    for (const int n : ran) all += n;
    const int idle = idle_p_list.bits();
    model::require(left == 0 || idle == 0, "I1: work is queued and a P is idle");
    model::require(state.spinning.load(relaxed) == 0, "I2: spinning does not end at 0");
    model::require(model::lowest(model::atomic_in(state, 0)) >= 0, "I2: spinning fell below 0");
    model::require(all + __builtin_popcount(static_cast<unsigned>(left)) == made, "a G is lost");
    model::require(__builtin_popcount(static_cast<unsigned>(idle)) + in_user_code == plan.procs,
                   "I4: a P is lost");
    model::require(idle_count.load(relaxed) == __builtin_popcount(static_cast<unsigned>(idle)),
                   "the idle list and its count disagree");
  }
};

}  // namespace
