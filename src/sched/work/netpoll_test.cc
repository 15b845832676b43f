// Goroutines that the network makes ready: which thread asks for them [12] [28], and where they run
// [32].

#include "sched/work/netpoll.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vole/vole.h>

#include <cstdlib>
#include <span>
#include <thread>

#include "os/os.h"
#include "sched/life/enter.h"
#include "sched/park.h"
#include "sched/state.h"
#include "sched/work/wake.h"

namespace vole::rt {
namespace {

constexpr std::int64_t kPollEvery = 1'000'000;  // ns [28]

const int no_eviction = setenv("VOLE_DEBUG", "evict=0", 1);

template <class Body>
void run_at(int procs, Body body) {
  ASSERT_EQ(no_eviction, 0);
  const int had = vole::set_max_procs(procs);
  vole::run(body);
  vole::set_max_procs(had);
}

bool waits(const atomic<G*>& g) {
  return g.load(seq_cst) != nullptr && status_of(*g.load(seq_cst)) == g_status::waiting;
}

// sysmon polls the network if nobody has for a millisecond. For an hour somebody has: and once sysmon
// has read the clock twice more, a poll that was under way is over. Returns when that was.
std::int64_t keep_sysmon_from_polling() {
  const std::int64_t last = os::now_ns() + 3'600'000'000'000;
  sched.last_poll.store(last, seq_cst);
  for (int rounds = 0; rounds < 2; ++rounds) {
    const std::int64_t was = sched.coarse_now.load(seq_cst);
    while (sched.coarse_now.load(seq_cst) == was) std::this_thread::yield();
  }
  return last;
}

// body(m, g, last), inside the runtime, at one P: g waits for a byte that is there, and nobody but us
// would ask the poller, which was last asked at `last`.
template <class Body>
void beside_a_byte(Body body) {
  run_at(1, [&] {
    int ends[2] = {};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    vole::net::conn near(ends[0]);
    atomic<G*> reader{nullptr};
    wait_group done;
    done.go([&] {
      char c = 0;
      reader.store(this_m()->curg, seq_cst);
      EXPECT_EQ(near.read(std::span(&c, 1)), 1u);
    });
    while (!waits(reader)) vole::yield();
    const std::int64_t last = keep_sysmon_from_polling();
    ASSERT_EQ(write(ends[1], "x", 1), 1);
    M* const m = enter();
    body(*m, reader.load(seq_cst), last);
    leave(m);
    done.wait();
    close(ends[1]);
  });
}

TEST(Netpoll, IsAskedUnlessSomebodyWaitsThereOrLooks) {  // [12]
  beside_a_byte([](M& m, G* g, std::int64_t last) {
    sched.looking.store(true, seq_cst);
    runnable* const beside_one_who_looks = find_polled(m);
    sched.looking.store(false, seq_cst);
    sched.last_poll.store(0, seq_cst);
    runnable* const beside_one_who_waits = find_polled(m);
    sched.last_poll.store(last, seq_cst);
    runnable* const alone = find_polled(m);
    EXPECT_EQ(beside_one_who_looks, nullptr);
    EXPECT_EQ(beside_one_who_waits, nullptr);
    EXPECT_EQ(alone, g);
    EXPECT_FALSE(sched.looking.load(seq_cst));
    put_back_owner(*m.p, g);
  });
}

TEST(Netpoll, SysmonAsksIfNobodyHasForItsPatience) {  // [28]
  beside_a_byte([](M&, G* g, std::int64_t last) {
    const bool too_early = poll_for_others(last + kPollEvery - 1, kPollEvery);
    sched.last_poll.store(0, seq_cst);
    const bool beside_one_who_waits = poll_for_others(last + kPollEvery, kPollEvery);
    sched.last_poll.store(last, seq_cst);
    const bool in_time = poll_for_others(last + kPollEvery, kPollEvery);
    EXPECT_FALSE(too_early);
    EXPECT_FALSE(beside_one_who_waits);
    EXPECT_TRUE(in_time);
    EXPECT_EQ(sched.last_poll.load(seq_cst), last + kPollEvery);
    EXPECT_EQ(status_of(*g), g_status::runnable);
    EXPECT_EQ(sched.global_now(), 1u) << "it has no ring of its own";
  });
}

// Two that park as if for the network. Woken, each says where it runs, and keeps that P until the other
// has said so, too: they are never in turn on one.
class pair_of_sleepers {
 public:
  pair_of_sleepers() {
    for (sleeper& s : both_)
      done_.go([this, &s] {
        s.g.store(enter()->curg, seq_cst);
        park([](G*, void*) noexcept { return true; }, nullptr, wait_reason::network);
        M* const m = enter();
        s.p = m->p;
        m->hot.leave();  // and nothing is asked of it here
        up_.fetch_add(1, seq_cst);
        while (up_.load(seq_cst) < 2) std::this_thread::yield();
      });
    while (!waits(both_[0].g) || !waits(both_[1].g)) vole::yield();
  }
  // As the poller would return them.
  woken_list wake() {
    woken_list list;
    for (const sleeper& s : both_) {
      G* const g = s.g.load(seq_cst);
      set_status(*g, g_status::waiting, g_status::runnable);
      g->next = nullptr;
      (list.last != nullptr ? list.last->next : list.first) = g;
      list.last = g;
      ++list.count;
    }
    return list;
  }
  void wait() { done_.wait(); }
  const P* p_of(int i) const { return both_[i].p; }

 private:
  struct sleeper {
    atomic<G*> g{nullptr};
    const P* p = nullptr;
  };
  sleeper both_[2];
  atomic<int> up_{0};
  wait_group done_;
};

// The poller has brought two, and a P is idle: one is ours, and somebody is called for the other.
TEST(Netpoll, SeveralAreSharedOverThePs) {  // [32]
  run_at(2, [] {
    pair_of_sleepers them;
    while (sched.idle_p_count.load(seq_cst) != 1 || sched.parking.spinning.load(seq_cst) != 0)
      std::this_thread::yield();
    M* const m = enter();
    P* const mine = m->p;
    mine->wakes.wasted.store(0, relaxed);  // whatever came of the wake-ups before
    const woken_list list = them.wake();
    const std::uint64_t before = sched.starts.load(relaxed);
    inject_owner(*m, list);
    EXPECT_GT(sched.starts.load(relaxed), before);
    EXPECT_EQ(mine->ready_next.load(relaxed), list.first);
    leave(m);
    them.wait();
    EXPECT_NE(them.p_of(0), them.p_of(1));
  });
}

}  // namespace
}  // namespace vole::rt
