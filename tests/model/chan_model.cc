// Channels as they are shipped (src/chan/core.cc, send_recv.cc, close.cc) on the checker: plain
// threads send, receive, give up and close.
//
// Law    a send that was told ok arrives once, any other never; in order from one
//        sender to one receiver. Nobody sleeps for ever once the channel is closed.
//        Values are handed over without a race. A thread that was woken may destroy the channel.
// Note   the goroutine's half differs from a plain thread's in how it sleeps: the lock
//        is released after its switch. That is select_model.cc's subject.
#include "chan/close.cc"
#include "chan/core.cc"
#include "chan/send_recv.cc"

#include <optional>

#include "mutants.h"

namespace vole::os {

std::int64_t now_ns() noexcept { return 1; }
void park_forever() noexcept { base::fatal("os: parked for ever"); }

}  // namespace vole::os

namespace vole::detail {

void chan_retire(chan_core*) noexcept { base::fatal("chan: nothing is inside here"); }
void chan_end_retired() noexcept {}

namespace {

using value = model::var<int>;
constexpr std::int64_t kSoon = 2;  // whether it passes first is the checker's choice

const chan_type kType{sizeof(value), alignof(value),
                      [](void* to, void* from) noexcept {
                        *static_cast<value*>(to) = static_cast<value*>(from)->get();
                      },
                      nullptr, nullptr};

// The shipped operations, or copies of operate_anywhere and chan_close_inside with one fault each.
enum class fault {
  none,
  wakes_under_lock,    // and releases the lock of what may be gone
  looks_then_queues,   // in two lock sections
  gives_up_unclaimed,  // the clock does not ask whether a value came
  stays_queued,        // the clock does not take the waiter off its queue
  forgets_senders,     // at close
  close_keeps_room,    // a send looks for room before it looks whether the channel is closed
  drops_unlooked,      // the last handle ends the core, whoever waits
  loser_not_due,       // who is found in a queue after the clock has claimed it is not waited for
  keeps_orphan,        // a waiter whose time was over does not let go
};

std::uintptr_t sleep_until_late(rt::guest_note& note, rt::deadline& t) noexcept {
  return rt::sleeps_until(note, t.when) || !rt::expire_on_thread(t) ? note.sleep() : rt::kTimedOut;
}

template <fault F, class Direction>
step faulty(chan_core& c, void* slot, std::int64_t when) noexcept {
  rt::guest_note sleeper;
  rt::deadline clock;
  waiter self;
  self.thread = &sleeper;
  self.slot = slot;
  self.unlink = Direction::unlink;
  c.lock.acquire();
  waiter* other = nullptr;
  const bool was_closed = c.closed;
  if (F == fault::close_keeps_room && c.count.load(relaxed) < c.capacity) c.closed = false;
  const step s = Direction::try_locked(c, slot, &other);
  c.closed = was_closed;
  if (s == step::wait && F == fault::looks_then_queues) {
    c.lock.release();
    c.lock.acquire();
  }
  if (s == step::wait) {
    self.object = &c;
    rt::arm(clock, nullptr, &self, when);
    enqueue_contested(c, Direction::queue(c), &self);
  }
  if (s == step::wake && F == fault::wakes_under_lock) rt::wake(nullptr, other, told(other, true));
  c.lock.release();
  if (s == step::wake && F != fault::wakes_under_lock) rt::wake(nullptr, other, told(other, true));
  if (s != step::wait) return s;
  if (when != kNever && F == fault::gives_up_unclaimed) {
    if (sleeper.woken.sleep_for(when)) return step_of(sleeper.value);
    Direction::unlink(&c, &self);
    return step::wait;
  }
  if (when != kNever && F == fault::stays_queued) self.unlink = [](void*, waiter*) noexcept {};
  if (when != kNever) {
    const step ended = step_of(sleep_until_late(sleeper, clock));
    model::require(self.object == nullptr, "went away, and left its waiter in a queue");
    return ended;
  }
  sleeper.woken.sleep();
  return step_of(sleeper.value);
}

template <fault F, class Direction>
chan_status perform(chan_core& c, void* slot, std::int64_t when) {
  if (F == fault::none) return operate_until<Direction>(&c, slot, when);
  return status_of(faulty<F, Direction>(c, slot, when));
}

template <fault F>
void close(chan_core& c) {
  if (F != fault::forgets_senders) {
    model::require(chan_close(&c), "closed twice");
    return;
  }
  c.lock.acquire();
  c.closed = true;
  chan_waiters all;
  while (waiter* const w = rt::wait_queue::pop_claimed(c.receivers))
    rt::wait_queue::push_back(all, w);
  c.lock.release();
  while (waiter* const w = rt::wait_queue::pop_front(all)) rt::wake(nullptr, w, told(w, false));
}

struct plan {
  std::size_t capacity = 0;
  int senders = 1, receivers = 1;
  int each = 1;  // values of a sender, and receives of a receiver
  bool timed_sends = false, timed_receives = false;
  bool closes = false;  // a third party closes; else all wait for each other
  bool tries = false;   // a third party tries to receive
};

template <fault F = fault::none>
struct traffic {
  value ring[2];
  chan_core c;
  plan p;
  int sent[8] = {}, came[8] = {};  // by value; read in finish()

  explicit traffic(plan what)
      : c(kType, what.capacity, reinterpret_cast<std::byte*>(ring)), p(what) {
    static constexpr const char* kSenders[] = {"send1", "send2"};
    static constexpr const char* kReceivers[] = {"recv1", "recv2"};
    for (int i = 0; i < p.senders; ++i) model::spawn(kSenders[i], [this, i] { send(i); });
    for (int i = 0; i < p.receivers; ++i) model::spawn(kReceivers[i], [this] { receive(); });
    if (p.closes) model::spawn("closer", [this] { close<F>(c); });
    if (p.tries) model::spawn("tries", [this] { try_once(); });
  }

  void send(int who) {
    for (int n = 0; n < p.each; ++n) {
      const int number = who * p.each + n;
      value v(number + 1);
      const chan_status s = perform<F, sending>(c, &v, p.timed_sends ? kSoon : kNever);
      if (s == chan_status::ok) ++sent[number];
      model::require(s != chan_status::closed || p.closes, "closed by nobody");
      if (s == chan_status::closed) return;
    }
  }
  void receive() {
    int last = 0;
    for (int n = 0; n < p.each * (p.closes ? 3 : 1); ++n) {
      value v(0);
      const chan_status s = perform<F, receiving>(c, &v, p.timed_receives ? kSoon : kNever);
      if (s == chan_status::closed) return;
      if (s != chan_status::ok) continue;
      ++came[v.get() - 1];
      model::require(p.senders > 1 || v.get() > last, "out of order");
      last = v.get();
    }
  }
  void try_once() {
    value v(0);
    if (chan_try_recv<kAny>(&c, &v) == chan_status::ok) ++came[v.get() - 1];
  }
  void finish() {
    while (c.count.load(relaxed) != 0) {
      value v(0);
      c.pop_value<kAny>(&v);
      ++came[v.get() - 1];
    }
    for (int i = 0; i < 8; ++i) {
      model::require(came[i] <= 1, "a value came twice");
      model::require(came[i] <= sent[i], "a value came that was not sent");
      model::require(came[i] >= sent[i], "a value is lost");
    }
    model::require(c.senders.first == nullptr && c.receivers.first == nullptr, "somebody waits");
    model::require(F != fault::none || c.due == 0, "somebody is due for ever");
  }
};

// The receiver destroys the channel as soon as it has its value, or has been told of the close.
template <fault F>
struct destroying {
  value ring[1];
  std::optional<chan_core> c;

  explicit destroying(bool by_close) {
    c.emplace(kType, 0, reinterpret_cast<std::byte*>(ring));
    model::spawn("waker", [this, by_close] {
      value v(1);
      if (by_close) {
        close<F>(*c);
      } else {
        perform<F, sending>(*c, &v, kNever);
      }
    });
    model::spawn("woken", [this] {
      value v(0);
      perform<F, receiving>(*c, &v, kNever);
      c.reset();
    });
  }
};

// The last handle goes while two wait, whose time may be over at any moment; perhaps one of them is
// served before. The last one that comes back ends the core, once.
template <fault F>
struct orphaned {
  struct party {
    rt::guest_note note;
    rt::deadline clock;
    waiter self;
    value slot{0};
  };
  static inline orphaned* current = nullptr;
  value ring[1];
  std::optional<chan_core> c;
  chan_core* core;
  party waits[2];
  int ended = 0;

  explicit orphaned(bool serves) {
    current = this;
    core = &c.emplace(kType, 0, reinterpret_cast<std::byte*>(ring), [](chan_core*) noexcept {
      ++current->ended;
      current->c.reset();
    });
    static constexpr const char* kNames[] = {"recv1", "recv2"};
    for (int i = 0; i < 2; ++i) {
      waiter& w = waits[i].self;
      w.thread = &waits[i].note;
      w.slot = &waits[i].slot;
      w.unlink = receiving::unlink;
      w.object = core;
      rt::arm(waits[i].clock, nullptr, &w, kSoon);
      enqueue_contested(*core, core->receivers, &w);
      model::spawn(kNames[i], [this, i] { go_on_waiting(waits[i]); });
    }
    model::spawn("owner", [this, serves] { drop(serves); });
  }

  void go_on_waiting(party& p) {  // the second half of operate_anywhere
    if (sleep_until_late(p.note, p.clock) != rt::kTimedOut) return;
    if (p.self.object != nullptr && F != fault::keeps_orphan) let_go_of_orphan(*core, &p.self);
  }
  void drop(bool serves) {
    value v(1);
    if (serves && F != fault::loser_not_due) chan_try_send<kAny>(core, &v);
    if (serves && F == fault::loser_not_due) {
      core->lock.acquire();
      waiter* const w = rt::wait_queue::pop_claimed(core->receivers);
      core->lock.release();
      if (w != nullptr) rt::wake(nullptr, w, told(w, true));
    }
    F == fault::drops_unlooked ? core->end(core) : chan_drop(core);
  }
  void finish() const { model::require(ended == 1, "the core has not ended once"); }
};

// Goroutines, and values that are copied without a call: the way that needs no frame (chan/core.h).
struct plain_traffic {
  static constexpr chan_type kPlain{sizeof(int), alignof(int), nullptr, nullptr, nullptr};
  int ring[2] = {};
  chan_core c;
  int each;
  int sent = 0, came = 0;
  std::optional<rt::goroutine> sender, receiver;

  plain_traffic(std::size_t capacity, int values, bool closes)
      : c(kPlain, capacity, reinterpret_cast<std::byte*>(ring)), each(values) {
    sender.emplace("send", 2, [this] { send(); });
    receiver.emplace("recv", 2, [this, closes] { receive(closes); });
    if (closes) model::spawn("closer", [this] { close<fault::none>(c); });
  }
  void send() {
    for (int v = 1; v <= each && passed(chan_send<sizeof(int)>(&c, &v)); ++v) sent = v;
  }
  void receive(bool closes) {
    int v = 0;
    while ((closes || came < each) && passed(chan_recv<sizeof(int)>(&c, &v))) {
      model::require(v == came + 1, "lost, doubled or out of order");
      came = v;
    }
  }
  void finish() const {
    model::require(sent == came + static_cast<int>(c.count.load(relaxed)), "a value is lost");
    model::require(c.senders.first == nullptr && c.receivers.first == nullptr, "somebody waits");
  }
};

const model::options kBounded{.preemptions = 2, .seconds = 4};

TEST(Chan, EveryValueArrivesOnce) {
  model::holds<traffic<>>("chan: one pair, unbuffered", {.seconds = 4}, plan{});
  model::holds<traffic<>>("chan: one pair, unbuffered, twice", kBounded, plan{.each = 2});
  model::holds<traffic<>>("chan: one pair, capacity 1, twice", kBounded,
                          plan{.capacity = 1, .each = 2});
  model::holds<traffic<>>("chan: two pairs, unbuffered", kBounded,
                          plan{.senders = 2, .receivers = 2});
  model::holds<traffic<>>("chan: two pairs, capacity 1, twice", {.random = 20'000},
                          plan{.capacity = 1, .senders = 2, .receivers = 2, .each = 2});
}

TEST(Chan, PlainValuesOfGoroutinesLikewise) {
  model::holds<plain_traffic>("chan: plain, unbuffered, twice", kBounded, std::size_t{0}, 2, false);
  model::holds<plain_traffic>("chan: plain, capacity 1, twice", kBounded, std::size_t{1}, 2, false);
  model::holds<plain_traffic>("chan: plain, capacity 1, close", kBounded, std::size_t{1}, 2, true);
}

TEST(Chan, DeadlinesLoseNothing) {
  model::holds<traffic<>>("chan: timed receive", kBounded,
                          plan{.timed_sends = true, .timed_receives = true});
  model::holds<traffic<>>(
      "chan: timed, capacity 1, twice", kBounded,
      plan{.capacity = 1, .each = 2, .timed_sends = true, .timed_receives = true});
  model::holds<traffic<>>(
      "chan: timed, two pairs", {.random = 20'000},
      plan{.senders = 2, .receivers = 2, .each = 2, .timed_sends = true, .timed_receives = true});
}

TEST(Chan, CloseWakesEverybody) {
  model::holds<traffic<>>("chan: close, one pair", kBounded, plan{.closes = true});
  model::holds<traffic<>>("chan: close, two pairs", {.random = 20'000},
                          plan{.senders = 2, .receivers = 2, .closes = true});
  model::holds<traffic<>>("chan: close, capacity 1", kBounded,
                          plan{.capacity = 1, .each = 2, .closes = true});
  model::holds<traffic<>>(
      "chan: close, timed, a try", {.random = 20'000},
      plan{.each = 2, .timed_sends = true, .timed_receives = true, .closes = true, .tries = true});
}

TEST(Chan, TheWokenMayDestroyIt) {
  model::holds<destroying<fault::none>>("chan: destroyed by its receiver", {.seconds = 4}, false);
  model::holds<destroying<fault::none>>("chan: destroyed after its close", {.seconds = 4}, true);
}

TEST(Chan, AnOrphanEndsOnce) {
  model::holds<orphaned<fault::none>>("chan: orphan", kBounded, false);
  model::holds<orphaned<fault::none>>("chan: orphan, one is served", kBounded, true);
}

TEST(Chan, MutantsOfTheOrphanAreCaught) {
  const model::options o{.seconds = 4};
  model::catches<orphaned<fault::drops_unlooked>>("chan: ended under a waiter", o, false);
  model::catches<orphaned<fault::loser_not_due>>("chan: a loser is not due", o, true);
  model::catches<orphaned<fault::keeps_orphan>>("chan: an orphan is kept", o, false);
}

TEST(Chan, MutantsAreCaught) {
  const model::options o{.seconds = 4};
  const plan timed{.timed_sends = true, .timed_receives = true};
  model::catches<destroying<fault::wakes_under_lock>>("chan: wakes under the lock", o, false);
  model::catches<traffic<fault::looks_then_queues>>("chan: looks, then queues", o, plan{});
  model::catches<traffic<fault::gives_up_unclaimed>>("chan: gives up unclaimed", o, timed);
  model::catches<traffic<fault::stays_queued>>("chan: gives up, stays queued", o, timed);
  model::catches<traffic<fault::forgets_senders>>("chan: close forgets the senders", o,
                                                  plan{.receivers = 0, .closes = true});
  model::catches<traffic<fault::close_keeps_room>>(
      "chan: room goes before closed", o, plan{.capacity = 1, .receivers = 1, .closes = true});
}

}  // namespace
}  // namespace vole::detail
