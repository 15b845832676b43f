// Ps that come and go: back from a call [24], handed off [22], the end of a slice [30], the idle list
// [19], a P that dies [33]. The test is a goroutine that gives its P up by itself.

#include "sched/life/enter.h"

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "os/os.h"
#include "sched/park.h"
#include "sched/hold/retake.h"
#include "sched/state.h"
#include "sched/hold/thread.h"
#include "sched/wait/p_timers.h"

namespace vole::rt {
namespace {

const int no_eviction = setenv("VOLE_DEBUG", "evict=0", 1);

// body() on the main goroutine, alone, at `procs` Ps.
template <class Body>
void alone(int procs, Body body) {
  ASSERT_EQ(no_eviction, 0);
  const int had = vole::set_max_procs(procs);
  vole::run([&] {
    while (stats().idle_procs != procs - 1 || stats().spinning_threads != 0)
      std::this_thread::yield();
    body();
  });
  vole::set_max_procs(had);
}

std::vector<P*> pop_all_idle() {
  std::vector<P*> all;
  sched.lock.acquire();
  while (P* const p = pop_idle_p_locked(nullptr)) all.push_back(p);
  sched.lock.release();
  return all;
}

void put_all_idle(const std::vector<P*>& all) {
  sched.lock.acquire();
  for (P* const p : all) put_idle_p_locked(p);
  sched.lock.release();
}

// As if sysmon had taken it. Inside the runtime; returns outside of it.
P* lose_p(M& m) {
  become_evicted(*m.curg);
  P* const p = release_p(m);
  m.hot.leave();
  return p;
}

using taker = void (*)();

void by_regain() { regain(); }
void by_entering() { leave(enter()); }

// At three Ps: its own is idle, and lies under another one.
void expect_old_p_first(taker come_back) {
  alone(3, [&] {
    M* const m = enter();
    std::vector<P*> idle = pop_all_idle();
    ASSERT_EQ(idle.size(), 2u);
    P* const mine = lose_p(*m);
    idle.insert(idle.begin(), mine);
    put_all_idle(idle);
    come_back();
    EXPECT_EQ(m->p, mine);
  });
}

TEST(Regain, OldPFirst) { expect_old_p_first(&by_regain); }                // [24]
TEST(Regain, OldPFirstWhenItEnters) { expect_old_p_first(&by_entering); }  // [24]

TEST(Regain, ElseAnyIdleOne) {  // [24]
  alone(3, [] {
    M* const m = enter();
    P* const mine = lose_p(*m);  // it is nobody's: not idle
    regain();
    EXPECT_NE(m->p, nullptr);
    EXPECT_NE(m->p, mine);
    put_all_idle({mine});
  });
}

TEST(Regain, ElseItGoesOnWithoutAndQueuesWhenItEnters) {  // [24]
  alone(2, [] {
    M* const m = enter();
    std::vector<P*> all = pop_all_idle();
    all.push_back(lose_p(*m));
    regain();
    EXPECT_EQ(m->p, nullptr);
    std::thread late([&] {
      while (sched.global_now() == 0) std::this_thread::yield();  // it waits there
      hand_off(all[0]);
      hand_off(all[1]);
    });
    by_entering();
    EXPECT_NE(this_m()->p, nullptr);
    late.join();
  });
}

// ── a P is handed off ── The goroutine has lost it; nobody needs it.

// Was a thread started for p?
bool is_manned_by_hand_off(P* p) {
  const std::uint64_t before = sched.starts.load(seq_cst);
  hand_off(p);
  return sched.starts.load(seq_cst) != before;
}

bool all_others_sleep() {
  holding hold(sched.lock);
  return sched.idle_ms.size() + 1 == sched.m_count;
}

TEST(HandOff, GoesIdleIfNobodyNeedsIt) {  // [22]
  alone(2, [] {
    EXPECT_FALSE(is_manned_by_hand_off(lose_p(*enter())));
    EXPECT_EQ(sched.idle_p_count.load(seq_cst), 2u);
    by_entering();
  });
}

// Nobody looks for work, and no other P is idle: nobody could.
TEST(HandOff, OneLooksIfNobodyElseCould) {  // [22]
  alone(1, [] {
    P* const mine = lose_p(*enter());
    sched.parking.need_spinning.store(0, seq_cst);  // nor has anybody promised to
    EXPECT_TRUE(is_manned_by_hand_off(mine));
    by_entering();
  });
}

// Somebody searches; but a submitter that saw no idle P relies on an M that searches afterwards.
TEST(HandOff, KeepsAPromiseToLook) {  // [22]
  alone(2, [] {
    M* const m = enter();
    const std::vector<P*> idle = pop_all_idle();
    P* const mine = lose_p(*m);
    sched.parking.spinning.fetch_add(1, seq_cst);
    sched.parking.need_spinning.store(1, seq_cst);
    EXPECT_TRUE(is_manned_by_hand_off(mine));
    EXPECT_EQ(sched.parking.need_spinning.load(seq_cst), 0);
    sched.parking.spinning.fetch_sub(1, seq_cst);
    put_all_idle(idle);
    by_entering();
  });
}

// A timer is pending, and nobody waits in the poller for it: the last P does not go idle alone.
TEST(HandOff, TheLastOneKeepsThePollerManned) {  // [22]
  alone(2, [] {
    while (!all_others_sleep()) std::this_thread::yield();
    M* const m = enter();
    const std::vector<P*> idle = pop_all_idle();  // or the timer would send somebody there
    timer t;
    t.fire = [](timer*, M*) noexcept {};
    add_timer(m, &t, os::now_ns() + 3'600'000'000'000);
    put_all_idle(idle);
    EXPECT_TRUE(is_manned_by_hand_off(lose_p(*m)));
    by_entering();
    EXPECT_TRUE(stop_timer(&t));
  });
}

// ── the end of a slice ──

// Asked to yield, at one P with another goroutine behind it: where does it wait?
std::size_t global_queue_behind(void (*leave_it)(M*)) {
  std::size_t seen = 99;
  alone(1, [&] {
    vole::go([&] { seen = sched.global_now(); });
    M* const m = enter();
    m->p->schedtick.store(0, relaxed);  // the global queue's turn is far away
    m->hot.attention.store(1, seq_cst);
    leave_it(m);
  });
  return seen;
}

TEST(Preempted, WaitsInTheGlobalQueue) {  // [30]
  EXPECT_EQ(global_queue_behind([](M* m) { leave(m); }), 1u);
}

TEST(Preempted, AtACheckpointToo) {  // [29] [30]
  EXPECT_EQ(global_queue_behind([](M* m) {
              m->hot.leave();
              vole::checkpoint();
            }),
            1u);
}

// ── the idle list ──

TEST(IdlePs, LastInFirstOut) {  // [19]
  alone(4, [] {
    M* const m = enter();
    std::vector<P*> idle = pop_all_idle();
    ASSERT_EQ(idle.size(), 3u);
    put_all_idle(idle);
    const std::vector<P*> again = pop_all_idle();
    EXPECT_EQ(again, (std::vector<P*>{idle[2], idle[1], idle[0]}));
    put_all_idle(again);
    leave(m);
  });
}

// What a P leaves behind goes before all others, in the order in which it would have run.
TEST(DyingP, GoesToTheHeadOfTheGlobalQueue) {  // [33]
  alone(1, [] {
    M* const m = enter();
    const auto fakes = std::make_unique<G[]>(5);
    m->p->ready_next.store(&fakes[0], relaxed);
    m->p->runnext.store(&fakes[1], seq_cst);
    EXPECT_TRUE(m->p->ring.push_owner(&fakes[2]));
    EXPECT_TRUE(m->p->ring.push_owner(&fakes[3]));
    sched.lock.acquire();
    sched.global.push_back_locked(&fakes[4]);
    drain_queue_locked(m->p);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(sched.global.pop_locked(), &fakes[i]) << i;
    EXPECT_EQ(sched.global.pop_locked(), nullptr);
    sched.lock.release();
    leave(m);
  });
}

}  // namespace
}  // namespace vole::rt
