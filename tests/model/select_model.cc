// select's one winner, and why its frame outlives everybody who looks at it
// (src/chan/select.cc), on the checker.
//
// A goroutine selects on two channels and a clock. `m` is the thread that carries it
// into the park: it queues a waiter on both channels, saves the context, and runs the
// commit. `g` is the goroutine when it goes on, on whatever thread: pass 3, and then
// its frame is gone. Wakers come to either channel, and the clock comes.
//
// Law    g is woken once. Nobody reads the frame after g wrote it (a race on its var).
//        A waker's value reaches g exactly if its waker won.
// Note   a copy of the protocol, not the shipped text: that needs a whole runtime.
//        What it leaves out: values (chan_model.cc), and the order of the locks.
#include "base/atomic.h"
#include "base/note.h"
#include "mutants.h"

namespace {

using namespace vole::base;

enum class fault {
  none,
  winner_not_by_cas,    // looks, then writes
  pass_3_only_queued,   // a loser's channel is locked only if its waiter is still queued
  pass_3_skips_last,    // the last channel is not locked at all
  commit_reads_late,    // the frame is read after the last unlock
  clock_after_unlock,   // the clock starts when the channels are unlocked
  clock_before_switch,  // the clock starts before the context is saved
  clock_not_stopped,    // g leaves without stopping the clock
  clock_unwatched,      // stopped, but a clock that is being fired is not waited for
  claims_unlocked,      // a waker pops under the lock, but claims after it
};

constexpr int kClock = 3;

struct channel {
  model::mutex lock;
  model::var<bool> queued{false};  // the waiter of this case
  atomic<int> peek{0};             // the same, for the mutant that looks without the lock
  model::var<int> slot{0};
};

struct selecting {
  channel c[2];
  struct {
    atomic<std::uint32_t> winner{0};
    model::var<int> word{1};  // the rest of the frame; 0: gone
  } frame;
  model::var<int> context{0};
  note woken;
  model::var<int> told{0};
  model::mutex heap, firing;
  model::var<bool> armed{false};  // under heap
  int wins = 0;                   // read in finish()
  fault f;
  bool clock;

  selecting(fault which, int wakers_0, int wakers_1, bool with_clock)
      : f(which), clock(with_clock) {
    model::name(model::atomic_in(frame.winner), "winner");
    model::spawn("m", [this] { park(); });
    model::spawn_daemon("g", [this] { go_on(); });
    static constexpr const char* kNames[2][2] = {{"waker0", "waker0b"}, {"waker1", "waker1b"}};
    for (int i = 0; i < wakers_0; ++i) model::spawn(kNames[0][i], [this] { serve(0); });
    for (int i = 0; i < wakers_1; ++i) model::spawn(kNames[1][i], [this] { serve(1); });
    if (clock) model::spawn("clock", [this] { tick(); });
  }

  void use_frame() { model::require(frame.word.get() == 1, "the frame is gone"); }

  bool claim() {
    use_frame();
    if (f == fault::winner_not_by_cas) {
      if (frame.winner.load(seq_cst) != 0) return false;
      frame.winner.store(1, seq_cst);
      return true;
    }
    std::uint32_t none = 0;
    return frame.winner.compare_exchange_strong(none, 1, seq_cst);
  }
  void wake(int who) {
    ++wins;
    told = who;
    woken.wake();
  }

  // ── m ──
  void park() {
    for (channel& each : c) each.lock.lock();
    for (channel& each : c) {
      each.queued = true;
      each.peek.store(1, relaxed);
    }
    if (f == fault::clock_before_switch) arm();
    context = 1;
    if (f != fault::clock_after_unlock && f != fault::clock_before_switch) arm();
    use_frame();  // which channels
    c[0].lock.unlock();
    use_frame();
    c[1].lock.unlock();
    if (f == fault::commit_reads_late) use_frame();
    if (f == fault::clock_after_unlock) arm();
  }
  void arm() {
    if (!clock) return;
    use_frame();
    heap.lock();
    armed = true;
    heap.unlock();
  }

  // ── g ──
  void go_on() {
    woken.sleep();
    const int who = told.get();
    model::require(context.get() == 1, "woken before it slept");
    if (clock && who != kClock && f != fault::clock_not_stopped) stop_clock();
    for (int i = 0; i < 2; ++i)
      if (i + 1 != who) dequeue(i);
    if (who != kClock) model::require(c[who - 1].slot.get() == 1, "the value is missing");
    frame.word = 0;
  }
  void dequeue(int i) {
    if (f == fault::pass_3_skips_last && i == 1) return;
    if (f == fault::pass_3_only_queued && c[i].peek.load(seq_cst) == 0) return;
    c[i].lock.lock();
    c[i].queued = false;
    c[i].lock.unlock();
  }
  void stop_clock() {
    heap.lock();
    armed = false;
    heap.unlock();
    if (f == fault::clock_unwatched) return;
    firing.lock();
    firing.unlock();
  }

  // ── the others ──
  void serve(int i) {
    c[i].lock.lock();
    bool mine = c[i].queued.get();
    c[i].queued = false;
    c[i].peek.store(0, seq_cst);
    if (f == fault::claims_unlocked) c[i].lock.unlock();
    mine = mine && claim();
    if (mine) c[i].slot = 1;
    if (f != fault::claims_unlocked) c[i].lock.unlock();
    if (mine) wake(i + 1);
  }
  void tick() {
    heap.lock();
    const bool due = armed.get();
    armed = false;
    if (due) firing.lock();
    heap.unlock();
    if (!due) return;
    const bool mine = claim();
    if (mine) wake(kClock);
    firing.unlock();
  }

  void finish() { model::require(wins <= 1, "two winners"); }
};

TEST(Select, OneWinnerAndAFrameThatLastsLongEnough) {
  model::holds<selecting>("select: a waker on each channel", {}, fault::none, 1, 1, false);
  model::holds<selecting>("select: a waker and a clock", {}, fault::none, 1, 0, true);
  model::holds<selecting>("select: a waker on the last channel, a clock", {}, fault::none, 0, 1,
                          true);
  model::holds<selecting>("select: wakers and a clock", {.preemptions = 3, .seconds = 4},
                          fault::none, 1, 1, true);
  model::holds<selecting>("select: four wakers and a clock", {.random = 40'000}, fault::none, 2, 2,
                          true);
}

TEST(Select, MutantsAreCaught) {
  const model::options o{.seconds = 4};
  model::catches<selecting>("select: winner not by CAS", o, fault::winner_not_by_cas, 1, 1, false);
  model::catches<selecting>("select: pass 3 locks only if queued", o, fault::pass_3_only_queued, 1,
                            1, false);
  model::catches<selecting>("select: pass 3 skips the last channel", o, fault::pass_3_skips_last, 1,
                            0, false);
  model::catches<selecting>("select: commit reads the frame late", o, fault::commit_reads_late, 1,
                            1, false);
  model::catches<selecting>("select: clock after the unlock", o, fault::clock_after_unlock, 1, 0,
                            true);
  model::catches<selecting>("select: clock before the switch", o, fault::clock_before_switch, 0, 0,
                            true);
  model::catches<selecting>("select: clock not stopped", o, fault::clock_not_stopped, 1, 0, true);
  model::catches<selecting>("select: firing clock not awaited", o, fault::clock_unwatched, 1, 0,
                            true);
  model::catches<selecting>("select: claims without the lock", o, fault::claims_unlocked, 1, 1,
                            false);
}

}  // namespace
