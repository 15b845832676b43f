// Where the next goroutine comes from: the sources in their order [11], and what becomes of what they
// bring. Goroutines here have their successor chosen on g0: the doors know of the own queue only.

#include "sched/work/find.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vole/vole.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "os/os.h"
#include "sched/life/enter.h"
#include "sched/park.h"
#include "sched/state.h"
#include "sched/wake_policy/state.h"

namespace vole::rt {
namespace {

using namespace std::chrono_literals;

const int no_eviction = setenv("VOLE_DEBUG", "evict=0", 1);

template <class Body>
void run_at(int procs, Body body) {
  ASSERT_EQ(no_eviction, 0);
  const int had = vole::set_max_procs(procs);
  vole::run(body);
  vole::set_max_procs(had);
}

// The goroutine's next switch goes by way of g0. The global queue's own turn is far away.
void choose_on_g0() {
  M* const m = enter();
  m->p->schedtick.store(0, relaxed);
  m->hot.attention.store(1, seq_cst);
  m->hot.leave();
}

std::uint64_t preemptions() { return sched.p_at(0)->preemptions.get(); }

// One letter for each goroutine that has run.
class logbook {
 public:
  void write(char who) {
    sched.lock.acquire();
    text_ += who;
    preemptions_ = preemptions();
    sched.lock.release();
    choose_on_g0();
  }
  const std::string& text() const { return text_; }
  std::uint64_t preemptions_at_last() const { return preemptions_; }

 private:
  std::string text_;
  std::uint64_t preemptions_ = 0;
};

// A goroutine that waits for a byte, and writes n.
class reader {
 public:
  reader(wait_group& done, logbook& log) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0);
    conn_ = vole::net::conn(ends_[0]);
    done.go([this, &log] {
      char c = 0;
      g_.store(this_m()->curg, seq_cst);
      EXPECT_EQ(conn_.read(std::span(&c, 1)), 1u);
      log.write('n');
    });
    while (g_.load(seq_cst) == nullptr || status_of(*g_.load(seq_cst)) != g_status::waiting)
      vole::yield();
  }
  ~reader() { close(ends_[1]); }
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;
  void tell() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }

 private:
  int ends_[2] = {};
  atomic<G*> g_{nullptr};
  vole::net::conn conn_;
};

// At one P: a timer that is due, one in the own queue, one in the global queue, one that the network
// has brought. Empty: somebody ran before all were there, or was sent to the global queue before it
// could write. (sysmon sees that a timer is due and sets the attention word; if the timer has fired by
// then, the word meets whoever runs.)
std::string order_of_sources() {
  logbook log;
  wait_group done;
  const reader network(done, log);
  const std::int64_t due = os::now_ns() + 20'000'000;
  done.go([&] {
    // Not sleep_for: it would read the clock again, and sleep longer than until then.
    vole::sleep_until(vole::time_point(std::chrono::nanoseconds(due)));
    log.write('t');
  });
  vole::yield();  // it sleeps
  std::thread([&] { done.go([&] { log.write('g'); }); }).join();
  done.go([&] { log.write('l'); });
  const bool in_time = os::now_ns() < due;
  while (os::now_ns() < due + 1000) {
  }
  network.tell();
  const bool all_were_there = in_time && log.text().empty();
  const std::uint64_t before = preemptions();
  choose_on_g0();
  done.wait();
  return all_were_there && log.preemptions_at_last() == before ? log.text() : "";
}

TEST(Find, TimersThenLocalThenGlobalThenNetwork) {  // [11]
  run_at(1, [] {
    std::string order;
    for (int tries = 0; tries < 100 && order.empty(); ++tries) order = order_of_sources();
    EXPECT_EQ(order, "tlgn");
  });
}

// Goroutines that keep their Ps, all but ours, until the end of the object.
class hogs {
 public:
  // first(): what each does before.
  template <class First>
  hogs(int n, First first) {
    for (int i = 0; i < n; ++i)
      done_.go([this, first] {
        first();
        up_.fetch_add(1, seq_cst);
        while (!stop_.load(seq_cst)) std::this_thread::yield();
      });
    while (up_.load(seq_cst) < n) std::this_thread::yield();  // not ours: main keeps its P
  }
  ~hogs() {
    stop_.store(true, seq_cst);
    done_.wait();
  }
  hogs(const hogs&) = delete;
  hogs& operator=(const hogs&) = delete;

 private:
  atomic<int> up_{0};
  atomic<bool> stop_{false};
  wait_group done_;
};

// sysmon polls the network if nobody has for a millisecond. For an hour somebody has: and once sysmon
// has read the clock twice more, a poll that was under way is over.
void keep_sysmon_from_polling() {
  sched.last_poll.store(os::now_ns() + 3'600'000'000'000, seq_cst);
  for (int rounds = 0; rounds < 2; ++rounds) {
    const std::int64_t was = sched.coarse_now.load(seq_cst);
    while (sched.coarse_now.load(seq_cst) == was) std::this_thread::yield();
  }
}

// The other P is a hog's, with one goroutine behind it. (It comes first: with a file open, a thread
// that finds nothing to do would wait in the poller, and then nobody else looks there.)
TEST(Find, NetworkBeforeStealing) {  // [11] [12]
  run_at(2, [] {
    logbook log;
    wait_group done;
    const hogs other(1, [&] { done.go([&] { log.write('s'); }); });
    const reader network(done, log);
    keep_sysmon_from_polling();
    network.tell();
    choose_on_g0();
    done.wait();
    EXPECT_EQ(log.text(), "ns");
  });
}

// A goroutine that ends switches straight to the next one of the own queue: the M searches only if that
// is empty or a slice is over. A search resets the M's count of contention, which the test reads.
TEST(Find, GoroutinesFollowEachOtherWithoutASearch) {  // [35]
  run_at(1, [] {
    int searches = 0;
    wait_group done;
    for (int i = 0; i < 200; ++i)
      done.go([&] {
        M* const m = this_m();
        searches += m->wakes.contended == 0 ? 1 : 0;
        m->wakes.contended = wake_policy::kTooMuch;
      });
    done.wait();
    EXPECT_LT(searches, 100);
  });
}

// Four Ps, ten in the global queue: ten fourths and one more.
TEST(Find, TakesItsShareOfTheGlobalQueue) {  // [8]
  run_at(4, [] {
    const hogs others(3, [] {});
    const auto fakes = std::make_unique<G[]>(10);
    M* const m = enter();
    sched.lock.acquire();
    for (std::size_t i = 0; i < 10; ++i) sched.global.push_back_locked(&fakes[i]);
    sched.lock.release();
    EXPECT_EQ(find_global(*m->p), &fakes[0]);
    EXPECT_EQ(m->p->ring.size(), 2u);
    EXPECT_EQ(m->p->ring.pop_owner(), &fakes[1]);
    EXPECT_EQ(m->p->ring.pop_owner(), &fakes[2]);
    sched.lock.acquire();
    for (std::size_t i = 3; i < 10; ++i) EXPECT_EQ(sched.global.pop_locked(), &fakes[i]);
    sched.lock.release();
    leave(m);
  });
}

// The world is being stopped: nothing from ready_next or a queue runs before it has been.
TEST(Find, AStopComesBeforeAllWork) {  // [11]
  run_at(1, [] {
    atomic<std::uint32_t> procs{0};
    wait_group done;
    done.go([&] { procs.store(sched.procs.load(seq_cst), seq_cst); });
    const M* const m = enter();
    std::thread stopper([] { vole::set_max_procs(2); });
    while (!sched.stopping.load(seq_cst) || m->hot.attention.load(seq_cst) == 0)
      std::this_thread::yield();
    vole_door_park([](G*, void*) noexcept { return false; }, nullptr, 0);  // to g0 and back
    done.wait();
    EXPECT_EQ(procs.load(seq_cst), 2u);
    stopper.join();
  });
}

}  // namespace
}  // namespace vole::rt
