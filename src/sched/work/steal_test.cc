// Stealing, one call at a time, in a live runtime: the test is a goroutine that enters it and plays
// the M that found nothing. The other Ps are held by hogs or idle, so nobody else steals.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "os/os.h"
#include "sched/life/enter.h"
#include "sched/work/find.h"
#include "sched/hold/retake.h"
#include "sched/state.h"
#include "sched/wake_policy/policy.h"
#include "sched/wait/p_timers.h"
#include "sched/work/wake.h"

namespace vole::rt {
namespace {

constexpr std::int64_t kGrace = 3000;  // ns [16]

// Before the first runtime: nobody takes a P away while the test, on a busy machine, does not run.
const int no_eviction = setenv("VOLE_DEBUG", "evict=0", 1);

class Steal : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(no_eviction, 0);
    procs_ = vole::set_max_procs(procs_);
  }
  void TearDown() override { vole::set_max_procs(procs_); }

  // body() on the main goroutine, at `procs` Ps, beside `hogs` goroutines in user code.
  template <class Body>
  static void beside_hogs(int procs, int hogs, Body body) {
    vole::set_max_procs(procs);
    vole::run([&] {
      std::atomic<int> up{0};
      std::atomic<bool> stop{false};
      wait_group done;
      for (int i = 0; i < hogs; ++i)
        done.go([&] {
          ++up;
          while (!stop) std::this_thread::yield();
        });
      while (up < hogs || stats().idle_procs != procs - 1 - hogs || stats().spinning_threads != 0)
        std::this_thread::yield();  // not ours: main keeps its P
      body();
      stop = true;
      done.wait();
    });
  }

 private:
  int procs_ = 2;
};

// Would this M search while `spinning` others do?
bool may_search_beside(int spinning) {
  M* const m = enter();
  sched.parking.spinning.fetch_add(spinning, seq_cst);
  runnable* const stolen = find_stolen(*m);
  const bool searched = m->spinning;
  m->spinning = false;
  sched.parking.spinning.fetch_sub(spinning + (searched ? 1 : 0), seq_cst);
  leave(m);
  EXPECT_EQ(stolen, nullptr) << "there is nothing";
  return searched;
}

TEST_F(Steal, AtMostHalfOfTheBusyPsSearch) {  // [13]
  beside_hogs(8, 0, [] {                      // one is busy: this
    EXPECT_TRUE(may_search_beside(0));
    EXPECT_FALSE(may_search_beside(1));
  });
  beside_hogs(8, 4, [] {  // five are
    EXPECT_TRUE(may_search_beside(0));
    EXPECT_TRUE(may_search_beside(2));
    EXPECT_FALSE(may_search_beside(3));
    EXPECT_FALSE(may_search_beside(7));
  });
}

// ── the walk ── The thief stays inside the runtime, and all other Ps are hogs': what lies in their
// queues is the test's, and nobody else looks at it.

// body(m, victims): the other Ps.
template <class Body>
void among_victims(Body body) {
  M* const m = enter();
  std::vector<P*> victims;
  for (std::uint32_t i = 0; i < sched.procs.load(relaxed); ++i)
    if (sched.p_at(i) != m->p) victims.push_back(sched.p_at(i));
  body(*m, victims);
  if (m->spinning) {
    m->spinning = false;
    sched.parking.spinning.fetch_sub(1, seq_cst);
  }
  leave(m);
}

// How many rounds a search makes: each draws its order.
int rounds_of_a_search(M& m) {
  base::rand_state before = m.random;
  EXPECT_EQ(find_stolen(m), nullptr);
  for (int n = 0; n < 100; ++n) {
    if (before.s == m.random.s) return n;
    before.next();
  }
  return -1;
}

TEST_F(Steal, FourRoundsBesideBusyPsAndOneBesideNone) {  // [14]
  beside_hogs(
      4, 3, [] { among_victims([](M& m, const auto&) { EXPECT_EQ(rounds_of_a_search(m), 4); }); });
  beside_hogs(
      4, 0, [] { among_victims([](M& m, const auto&) { EXPECT_EQ(rounds_of_a_search(m), 1); }); });
}

// In any order of the Ps, a ring goes before every runnext.
TEST_F(Steal, NoRunnextWhileAnyRingHasSomething) {  // [14] [16]
  beside_hogs(4, 3, [] {
    among_victims([](M& m, const std::vector<P*>& victims) {
      const auto fakes = std::make_unique<G[]>(3);
      victims[0]->runnext.store(&fakes[0], seq_cst);
      victims[1]->runnext.store(&fakes[1], seq_cst);
      for (int i = 0; i < 40; ++i) {
        ASSERT_TRUE(victims[2]->ring.push_owner(&fakes[2]));
        EXPECT_EQ(find_stolen(m), &fakes[2]);
        EXPECT_EQ(victims[0]->runnext.load(relaxed), &fakes[0]);
        EXPECT_EQ(victims[1]->runnext.load(relaxed), &fakes[1]);
      }
      std::set<runnable*> last{find_stolen(m), find_stolen(m)};
      EXPECT_EQ(last, (std::set<runnable*>{&fakes[0], &fakes[1]})) << "the last round takes these, too";
      EXPECT_EQ(find_stolen(m), nullptr);
    });
  });
}

// Nobody comes to a hog's timers: the thief fires them, and runs what they made runnable.
TEST_F(Steal, DueTimersOfABusyPAreFiredByTheThief) {  // [14]
  beside_hogs(2, 1, [] {
    among_victims([](M& m, const std::vector<P*>& victims) {
      const auto fake = std::make_unique<G>();
      const auto hog = std::make_unique<M>();
      hog->p = victims[0];
      timer t;
      t.arg = fake.get();
      t.fire = [](timer* due, M* by) noexcept {
        put_back_owner(*by->p, static_cast<G*>(due->arg));
      };
      add_timer(hog.get(), &t, os::now_ns());
      EXPECT_NE(first_timer(victims[0]->id), kNoTimer);
      EXPECT_EQ(find_stolen(m), fake.get());
      EXPECT_EQ(first_timer(victims[0]->id), kNoTimer);
    });
  });
}

// ── the masks ──

TEST_F(Steal, MaskSaysWhichPsAreIdle) {  // [17]
  beside_hogs(4, 1, [] {
    M* const m = enter();
    sched.lock.acquire();
    int idle = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const bool is_idle = sched.p_at(i)->status.load(relaxed) == p_status::idle;
      EXPECT_EQ(sched.idle_mask.test(i), is_idle) << "P " << i;
      idle += is_idle ? 1 : 0;
    }
    sched.lock.release();
    EXPECT_EQ(idle, 2);
    leave(m);
  });
}

// Of a P that the mask calls idle only the timers count.
TEST_F(Steal, RingOfAnIdlePIsNotLookedAt) {  // [17]
  beside_hogs(2, 1, [] {
    among_victims([](M& m, const std::vector<P*>& victims) {
      const auto fake = std::make_unique<G>();
      const std::uint32_t id = victims[0]->id;
      ASSERT_TRUE(victims[0]->ring.push_owner(fake.get()));
      sched.timer_mask.set(id);
      sched.idle_mask.set(id);
      EXPECT_EQ(find_stolen(m), nullptr);
      sched.idle_mask.clear(id);
      EXPECT_EQ(find_stolen(m), fake.get());
    });
  });
}

// ── a hog with work behind it ──

enum class where { ready_next, runnext };

// A hog that has readied `n` goroutines: the last is in ready_next, or in its runnext, the others
// are in its ring.
class victim {
 public:
  victim(int n, where w) {
    for (int i = 0; i < n; ++i) {
      gates_[i].add();
      done_.go([this, i] {
        ++waiting_;
        gates_[i].wait();
      });
    }
    while (waiting_ < n || stats().idle_procs != 1) vole::yield();
    done_.go([this, n, w] {
      for (int i = 0; i < n; ++i) gates_[i].done();
      M* const m = enter();
      if (w == where::runnext) m->p->runnext.store(take_ready_next_owner(*m->p), seq_cst);
      p_ = m->p;
      leave(m);
      while (!stop_) std::this_thread::yield();
    });
    while (p_ == nullptr) std::this_thread::yield();  // on the other P: main keeps its own
  }
  ~victim() {
    stop_ = true;
    done_.wait();
  }
  victim(const victim&) = delete;
  victim& operator=(const victim&) = delete;
  P& p() { return *p_; }

 private:
  wait_group gates_[8], done_;
  std::atomic<int> waiting_{0};
  std::atomic<P*> p_{nullptr};
  std::atomic<bool> stop_{false};
};

// Steals once, and queues what it got here. Returns how long that took, or -1: nothing.
std::int64_t steal_once() {
  M* const m = enter();
  const std::int64_t before = os::now_ns();
  runnable* const g = find_stolen(*m);
  const std::int64_t took = os::now_ns() - before;
  if (m->spinning) {
    m->spinning = false;
    sched.parking.spinning.fetch_sub(1, seq_cst);
  }
  if (g != nullptr) put_back_owner(*m->p, g);
  leave(m);
  return g != nullptr ? took : -1;
}

TEST_F(Steal, RunnextGoesLastAndAfterAGrace) {  // [14] [16]
  vole::set_max_procs(2);
  vole::run([] {
    victim hog(3, where::runnext);
    ASSERT_NE(hog.p().runnext.load(relaxed), nullptr);
    ASSERT_EQ(hog.p().ring.size(), 2u);
    EXPECT_GE(steal_once(), 0);
    EXPECT_EQ(hog.p().ring.size(), 1u) << "half of the ring";
    EXPECT_GE(steal_once(), 0);
    EXPECT_EQ(hog.p().ring.size(), 0u);
    EXPECT_NE(hog.p().runnext.load(relaxed), nullptr) << "not while the ring had anything";
    EXPECT_GE(steal_once(), kGrace);
    EXPECT_EQ(hog.p().runnext.load(relaxed), nullptr);
    EXPECT_EQ(steal_once(), -1);
  });
}

// A P whose goroutines run better in turn is passed over, unless sysmon has called a thief; others
// are not.
TEST_F(Steal, PassesOverAPThatRunsInTurnUntilItInvites) {  // [13]
  vole::set_max_procs(2);
  vole::run([] {
    victim hog(5, where::runnext);
    P& p = hog.p();
    p.wakes.wasted.store(wake_policy::kManyWasted, relaxed);
    EXPECT_EQ(steal_once(), -1);
    p.wakes.invites.store(true, seq_cst);
    EXPECT_GE(steal_once(), 0);
    EXPECT_EQ(p.ring.size(), 2u);
    EXPECT_FALSE(p.wakes.invites.load(relaxed)) << "one thief is enough";
    EXPECT_EQ(steal_once(), -1);
    p.wakes.wasted.store(wake_policy::kManyWasted - 1, relaxed);
    EXPECT_GE(steal_once(), 0);
  });
}

// Two goroutines that fight on their Ps do not keep thieves from a third P's newborns: the one that
// makes them calls at once.
TEST_F(Steal, SpawnCallsAThiefWhateverOtherPsHaveShown) {
  beside_hogs(4, 2, [] {
    std::atomic<bool> stop{false};
    wait_group done;
    P* const mine = this_m()->p;
    for (std::uint32_t i = 0; i < 4; ++i) sched.p_at(i)->wakes.wasted.store(wake_policy::kManyWasted + 8, relaxed);
    mine->wakes.wasted.store(0, relaxed);
    const std::uint64_t before = sched.starts.load(seq_cst);
    done.go([&] {
      while (!stop) std::this_thread::yield();
    });
    EXPECT_EQ(sched.starts.load(seq_cst), before + 1) << "an M was started by go() itself";
    stop = true;
    done.wait();
  });
}

TEST_F(Steal, WhatIsOwedIsStolenOnceItIsExposed) {
  vole::set_max_procs(2);
  vole::run([] {
    victim hog(1, where::ready_next);
    while (hog.p().ready_next.load(relaxed) != nullptr) retake::expose(&hog.p());
    EXPECT_EQ(hog.p().runnext.load(relaxed), nullptr);
    steal_once();
    EXPECT_EQ(hog.p().ring.size(), 0u);
    EXPECT_EQ(steal_once(), -1);
  });
}

}  // namespace
}  // namespace vole::rt
