// poll/descriptor.h on the checker: a waiter, the poller, a closer, the clock.
//
// No wake-up is lost (the waiter would sleep for ever: a deadlock), and no waiter is woken that is gone
// (a note used after its end, or woken twice). The waiter does the same as net/wait.cc, and sleeps on a
// plain thread's note.
#include "poll/descriptor.h"

#include <optional>

#include "mutants.h"

namespace {

using namespace vole::rt;
using poll::descriptor;
using poll::way;

enum class fault {
  none,
  looks_before_it_says,  // the waiter
  never_looks,
  commits_blindly,        // with a store
  closes_before_it_says,  // the closer
  event_is_forgotten,     // the poller: an event without a waiter leaves nothing behind
  second_only_looks,      // the poller: an event that finds ready writes nothing
  takes_nobody,           // unblock in two steps
  ends_after_the_call,    // the waiter: uses the event up when it has tried again
};

struct setting {
  fault f = fault::none;
  bool events = true, stale = false, closer = false, clock = false;
  bool sure = false;  // that the call would block: the waiter does not try it first
  bool weak_word = false;
};

struct waiting {
  descriptor d{};
  atomic<int> bytes{0};  // in the kernel
  atomic<int> closing{0}, late{0};
  const setting s;

  explicit waiting(setting with) : s(with) {
    const int word = model::atomic_in(d);
    model::name(word, "word");
    if (s.weak_word) model::weaken(word, model::access::rmw, relaxed);
    model::spawn("waiter", [this] { wait(); });
    if (s.events) model::spawn("poller", [this] { poll_events(); });
    if (s.closer) model::spawn("closer", [this] { end(closing); });
    if (s.clock) model::spawn("clock", [this] { end(late); });
  }

  bool over() { return closing.load(seq_cst) != 0 || late.load(seq_cst) != 0; }

  void wait() {
    for (bool sure = s.sure;; sure = false) {
      if (over()) return;
      if (!sure && bytes.load(relaxed) != 0) return;  // the call: it would not block
      if (s.f == fault::ends_after_the_call) poll::end_wait(d, way::in);
      const bool early = s.f == fault::looks_before_it_says && over();
      if (!poll::start_wait(d, way::in)) continue;
      const bool looks = s.f != fault::looks_before_it_says && s.f != fault::never_looks;
      if (early || (looks && over())) return poll::undo_wait(d, way::in);
      sleep();
    }
  }
  void sleep() {
    guest_note note;
    waiter me;
    me.thread = &note;
    if (s.f == fault::commits_blindly) {
      poll::word_of(d, way::in).store(reinterpret_cast<std::uintptr_t>(&me), seq_cst);
    } else if (!poll::commit_wait(d, way::in, &me)) {
      return;
    }
    note.woken.sleep();
    if (s.f != fault::ends_after_the_call) poll::end_wait(d, way::in);
  }

  void wake(waiter* w) {
    if (w != nullptr) w->thread->woken.wake();
  }
  void event() {
    if (s.f == fault::event_is_forgotten) {
      const auto seen = poll::word_of(d, way::in).load(seq_cst);
      if (seen <= descriptor::kWait) return;
    }
    if (s.f == fault::second_only_looks &&
        poll::word_of(d, way::in).load(seq_cst) == descriptor::kReady)
      return;
    wake(poll::unblock(d, way::in, true));
  }
  void poll_events() {
    if (s.stale) event();  // of a former life
    bytes.store(1, relaxed);
    event();
  }
  void end(atomic<int>& reason) {
    if (s.f != fault::closes_before_it_says) reason.store(1, seq_cst);
    if (s.f == fault::takes_nobody) {
      const auto seen = poll::word_of(d, way::in).load(seq_cst);
      if (seen > descriptor::kWait) wake(poll::unblock(d, way::in, false));
    } else {
      wake(poll::unblock(d, way::in, false));
    }
    if (s.f == fault::closes_before_it_says) reason.store(1, seq_cst);
  }
};

TEST(PollModel, EventsReachTheWaiter) {
  model::holds<waiting>("one event", {}, setting{});
  model::holds<waiting>("one event, and no call before the wait", {}, setting{.sure = true});
}
TEST(PollModel, StaleEventsDoNotHarm) {
  model::holds<waiting>("a stale event, then one", {}, setting{.stale = true});
}
TEST(PollModel, CloseReachesTheWaiter) {
  model::holds<waiting>("close", {}, setting{.events = false, .closer = true});
  model::holds<waiting>("close and an event", {}, setting{.closer = true});
}
TEST(PollModel, AllAtOnce) {
  model::holds<waiting>("close and the clock", {},
                        setting{.events = false, .closer = true, .clock = true});
  model::holds<waiting>("events, close and the clock", {.preemptions = 3},
                        setting{.stale = true, .closer = true, .clock = true});
}

TEST(PollModel, MutantsAreCaught) {
  const setting close{.events = false, .closer = true};
  const auto with = [](setting s, fault f) {
    s.f = f;
    return s;
  };
  model::catches<waiting>("looks before it says so", {}, with(close, fault::looks_before_it_says));
  model::catches<waiting>("never looks", {}, with(close, fault::never_looks));
  model::catches<waiting>("commits blindly", {}, with({}, fault::commits_blindly));
  model::catches<waiting>("wakes before it says closed", {},
                          with(close, fault::closes_before_it_says));
  model::catches<waiting>("an event without a waiter is dropped", {},
                          with({}, fault::event_is_forgotten));
  model::catches<waiting>("a second event writes nothing", {},
                          with({.stale = true}, fault::second_only_looks));
  model::catches<waiting>("a relaxed word", {},
                          setting{.events = false, .closer = true, .weak_word = true});
  model::catches<waiting>("close takes only who sleeps", {}, with(close, fault::takes_nobody));
  model::catches<waiting>("the event is used up after the call", {},
                          with({.stale = true}, fault::ends_after_the_call));
}

}  // namespace
