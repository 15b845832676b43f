// Stealing, one call at a time, in a live runtime: the test is a goroutine that enters it and plays
// the M that found nothing. The other Ps are held by hogs or idle, so nobody else steals.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "os/os.h"
#include "sched/enter.h"
#include "sched/find.h"
#include "sched/retake.h"
#include "sched/state.h"
#include "sched/wake.h"

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
  G* const stolen = find_stolen(*m);
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

enum class where { owed, runnext };

// A hog that has readied `n` goroutines: the last is owed, or lies in its runnext, the others in its
// ring.
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
      if (w == where::runnext) m->p->runnext.store(take_owed_owner(*m->p), seq_cst);
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
  G* const g = find_stolen(*m);
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

TEST_F(Steal, WhatIsOwedIsStolenOnceItIsExposed) {
  vole::set_max_procs(2);
  vole::run([] {
    victim hog(1, where::owed);
    while (hog.p().owed.load(relaxed) != nullptr) retake::expose(&hog.p());
    EXPECT_EQ(hog.p().runnext.load(relaxed), nullptr);
    steal_once();
    EXPECT_EQ(hog.p().ring.size(), 0u);
    EXPECT_EQ(steal_once(), -1);
  });
}

}  // namespace
}  // namespace vole::rt
