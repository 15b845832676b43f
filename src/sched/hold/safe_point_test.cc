// A function is run once for every P, wherever that is [11].

#include "sched/hold/safe_point.h"

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <chrono>
#include <cstdlib>
#include <semaphore>
#include <thread>

#include "os/os.h"
#include "sched/life/enter.h"
#include "sched/park.h"
#include "sched/state.h"
#include "sched/wait/p_timers.h"

namespace vole::rt {
namespace {

const int no_eviction = setenv("VOLE_DEBUG", "evict=0", 1);

template <class Body>
void run_at(int procs, Body body) {
  ASSERT_EQ(no_eviction, 0);
  const int had = vole::set_max_procs(procs);
  vole::run(body);
  vole::set_max_procs(had);
}

// How often it was run for each P. Plain words: who asked sees what was written.
struct tally {
  int of[kMaxProcs] = {};

  static void count(P& p, void* arg) noexcept { ++static_cast<tally*>(arg)->of[p.id]; }
  bool ask() { return safe_point::on_every_p(&count, this); }
  void expect_once(int procs) const {
    for (int i = 0; i < procs; ++i) EXPECT_EQ(of[i], 1) << "P " << i;
    for (std::uint32_t i = static_cast<std::uint32_t>(procs); i < kMaxProcs; ++i)
      EXPECT_EQ(of[i], 0) << "P " << i;
  }
};

void ask_and_expect(int procs) {
  tally t;
  EXPECT_TRUE(t.ask());
  t.expect_once(procs);
}

TEST(SafePoint, NoRuntimeNoPs) {
  tally t;
  EXPECT_FALSE(t.ask());
  t.expect_once(0);
}

TEST(SafePoint, GoroutineAsksWhileAllOthersAreIdle) {  // [11]
  for (const int procs : {1, 2, 4, 64})
    run_at(procs, [procs] {
      for (int i = 0; i < 10; ++i) ask_and_expect(procs);
    });
}

TEST(SafePoint, PlainThreadAsks) {
  run_at(4, [] {
    std::thread([] { ask_and_expect(4); }).join();  // this goroutine's P is held in user code
    vole::blocking([] { std::thread([] { ask_and_expect(4); }).join(); });
  });
}

// Eviction is off: their Ps stay theirs.
TEST(SafePoint, ThreadsThatNeverComeInAreNotWaitedFor) {
  run_at(4, [] {
    atomic<int> up{0};
    atomic<bool> stop{false};
    vole::wait_group done;
    for (int i = 0; i < 3; ++i)
      done.go([&] {
        up.fetch_add(1, seq_cst);
        while (!stop.load(relaxed)) cpu_relax();
      });
    while (up.load(seq_cst) < 3) std::this_thread::yield();
    const std::uint64_t yielded = vole::stats().preemptions;
    for (int i = 0; i < 100; ++i) ask_and_expect(4);
    EXPECT_EQ(vole::stats().preemptions, yielded);  // nobody lost a slice
    stop.store(true, relaxed);
    done.wait();
  });
}

TEST(SafePoint, ThreadsInCallsAreNotWaitedFor) {
  run_at(4, [] {
    atomic<int> up{0};
    std::counting_semaphore<> go_on(0);
    vole::wait_group done;
    for (int i = 0; i < 3; ++i)
      done.go([&] {
        vole::blocking([&] {
          up.fetch_add(1, seq_cst);
          go_on.acquire();
        });
      });
    while (up.load(seq_cst) < 3) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) ask_and_expect(4);
    go_on.release(3);
    done.wait();
  });
}

TEST(SafePoint, TwoAskAtOnce) {
  run_at(2, [] {
    const auto ask_often = [] {
      for (int i = 0; i < 300; ++i) ask_and_expect(2);
    };
    vole::wait_group done;
    for (int i = 0; i < 3; ++i) done.go(ask_often);
    std::thread plain(ask_often);
    done.wait();
    plain.join();
  });
}

struct order {
  M* by = nullptr;
  bool timer_waits = false;
};

// The M that holds the P is inside the runtime and does not leave it, with a timer due: it runs the
// function itself, in find. False: the timer had been fired before all this.
bool owner_runs_it_in_find() {
  vole::wait_group done;
  const std::int64_t due = os::now_ns() + 5'000'000;
  done.go([due] { vole::sleep_for(std::chrono::nanoseconds(due - os::now_ns())); });
  vole::yield();  // it sleeps, unless we were too slow
  order seen;
  M* const m = enter();
  const bool timer_waits = first_timer(m->p->id) != kNoTimer;
  while (timer_waits && os::now_ns() < due) cpu_relax();
  std::thread asker([&] {
    safe_point::on_every_p(
        [](P& p, void* arg) noexcept {
          auto& o = *static_cast<order*>(arg);
          o = {this_m(), first_timer(p.id) != kNoTimer};
        },
        &seen);
  });
  while (m->p->safe_point.load(seq_cst) == 0 || m->hot.attention.load(seq_cst) == 0)
    std::this_thread::yield();
  vole_door_park([](G*, void*) noexcept { return false; }, nullptr, 0);  // to g0 and back
  asker.join();
  EXPECT_EQ(seen.by, m);
  EXPECT_EQ(seen.timer_waits, timer_waits);
  done.wait();
  return timer_waits;
}

TEST(SafePoint, OwnerRunsItInFindBeforeItsTimers) {  // [11]
  run_at(1, [] {
    bool shown = false;
    for (int tries = 0; tries < 100 && !shown; ++tries) shown = owner_runs_it_in_find();
    EXPECT_TRUE(shown);
  });
}

// Nothing else is asked of it: whoever leaves the runtime runs it and goes on.
TEST(SafePoint, WhoLeavesRunsItAndKeepsItsSlice) {
  run_at(1, [] {
    tally t;
    const std::uint64_t yielded = vole::stats().preemptions;
    M* const m = enter();
    std::thread asker([&] { t.ask(); });
    while (m->hot.attention.load(seq_cst) == 0) std::this_thread::yield();
    EXPECT_EQ(m->hot.attention.load(seq_cst), safe_point::kSafePoint);
    const std::uint32_t tick = m->p->schedtick.load(relaxed);
    leave(m);
    EXPECT_EQ(m->hot.attention.load(seq_cst), 0u);
    EXPECT_EQ(m->p->schedtick.load(relaxed), tick);
    asker.join();
    t.expect_once(1);
    EXPECT_EQ(vole::stats().preemptions, yielded);
  });
}

// What is asked of an M beside it is not lost: its slice is over.
TEST(SafePoint, OtherRequestsAreAnsweredToo) {
  run_at(1, [] {
    tally t;
    M* const m = enter();
    std::thread asker([&] { t.ask(); });
    while (m->hot.attention.load(seq_cst) == 0) std::this_thread::yield();
    m->hot.attention.store(1, seq_cst);
    const std::uint64_t yielded = m->p->preemptions.get();
    leave(m);
    EXPECT_EQ(vole::stats().preemptions, yielded + 1);
    asker.join();
    t.expect_once(1);
  });
}

}  // namespace
}  // namespace vole::rt
