// The house on another system: os/ is a door, and what stands behind it can be replaced.
//
// This program defines the clock, the futexes, the random seed and the poller's set itself. The linker
// takes these, and leaves the files of os/linux that define the same out; everything else is the
// library as it is. The system here has no clock of the machine's: its time stands still while
// anybody is at work and, when all have waited for a moment, goes on at once to the first time that
// somebody waits for. So a day of sleeps takes a moment; who reads the machine's clock, or
// sleeps past os/, sleeps for the whole day, and the test does not end in time.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/system.h"
#include "os/events.h"
#include "os/os.h"

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Never destroyed: threads of the runtime may wait in it when the program ends.
struct simulated_system {
  std::mutex mutex;
  std::condition_variable changed;
  std::int64_t now = 1'000'000'000'000;
  std::multiset<std::int64_t> awaited;  // times that somebody waits for
  std::uint64_t seeds = 0;
  bool rung = false;

  static simulated_system& get() {
    static simulated_system& s = *new simulated_system;
    return s;
  }

  // Until done() or that time. False: the time came first.
  template <class Done>
  bool wait(std::unique_lock<std::mutex>& lock, std::int64_t until, Done done) {
    if (until == kNever) {
      changed.wait(lock, done);
      return true;
    }
    const auto mine = awaited.insert(until);
    while (!done() && now < until) {
      if (changed.wait_for(lock, 1ms) == std::cv_status::no_timeout) continue;
      if (done() || *awaited.begin() != until) continue;
      now = std::max(now, until);
      changed.notify_all();
    }
    awaited.erase(mine);
    return done();
  }
};

std::int64_t sum(std::int64_t now, std::int64_t ns) {
  return ns < kNever - now ? now + ns : kNever;
}

}  // namespace

namespace vole::os {

std::int64_t now_ns() noexcept {
  simulated_system& s = simulated_system::get();
  const std::lock_guard lock(s.mutex);
  return s.now;
}
std::uint64_t random_seed() noexcept {
  simulated_system& s = simulated_system::get();
  const std::lock_guard lock(s.mutex);
  return ++s.seeds;
}
std::int64_t thread_cpu_ns() noexcept { return now_ns(); }
std::int64_t thread_sleeps() noexcept { return 0; }
std::int64_t cpu_ns_of(std::uint64_t) noexcept { return now_ns(); }

int make_event_set(event_set* s) noexcept {
  *s = {0, 0};
  return 0;
}
void drop_event_set(const event_set&) noexcept {}
int watch_changes(const event_set&, int, std::uint64_t) noexcept { return EPERM; }
int stop_watching(const event_set&, int) noexcept { return ENOENT; }
int watch_once(const event_set&, int, std::uint32_t, std::uint64_t) noexcept { return EPERM; }
int again_once(const event_set&, int, std::uint32_t, std::uint64_t) noexcept { return ENOENT; }

int wait_for_events(const event_set&, event (&found)[kMostEvents], std::int64_t ns) noexcept {
  simulated_system& s = simulated_system::get();
  std::unique_lock lock(s.mutex);
  if (ns != 0) s.wait(lock, ns < 0 ? kNever : sum(s.now, ns), [&] { return s.rung; });
  if (!s.rung) return 0;
  found[0] = {kRung, 1};
  return 1;
}
void ring(const event_set&) noexcept {
  simulated_system& s = simulated_system::get();
  const std::lock_guard lock(s.mutex);
  s.rung = true;
  s.changed.notify_all();
}
void stop_ringing(const event_set&) noexcept {
  simulated_system& s = simulated_system::get();
  const std::lock_guard lock(s.mutex);
  s.rung = false;
}

}  // namespace vole::os

namespace vole::base {

void futex_wait(atomic<std::uint32_t>* word, std::uint32_t expected) noexcept {
  simulated_system& s = simulated_system::get();
  std::unique_lock lock(s.mutex);
  if (word->load(std::memory_order_acquire) == expected) s.changed.wait(lock);
}
bool futex_wait_for(atomic<std::uint32_t>* word, std::uint32_t expected,
                    std::int64_t ns) noexcept {
  simulated_system& s = simulated_system::get();
  std::unique_lock lock(s.mutex);
  return s.wait(lock, sum(s.now, ns),
                [&] { return word->load(std::memory_order_acquire) != expected; });
}
void futex_wake(atomic<std::uint32_t>*, int) noexcept {
  simulated_system& s = simulated_system::get();
  const std::lock_guard lock(s.mutex);
  s.changed.notify_all();
}
std::uint32_t clock_us() noexcept { return static_cast<std::uint32_t>(os::now_ns() / 1000); }

}  // namespace vole::base

namespace {

TEST(StandIn, ADayPassesInTheOrderOfItsHours) {
  vole::set_max_procs(1);
  const vole::time_point begin = vole::now();
  std::vector<int> order;
  vole::run([&] {
    vole::wait_group all;
    vole::mutex mutex;
    for (int hour = 24; hour > 0; --hour)
      all.go([&, hour] {
        vole::sleep_for(std::chrono::hours(hour));
        EXPECT_GE(vole::now() - begin, std::chrono::hours(hour));
        const std::lock_guard lock(mutex);
        order.push_back(hour);
      });
    all.wait();
  });
  std::vector<int> hours;
  for (int hour = 1; hour <= 24; ++hour) hours.push_back(hour);
  EXPECT_EQ(order, hours);
  EXPECT_GT(simulated_system::get().seeds, 0u);
}

TEST(StandIn, EveryDeadlineIsOfTheSameClock) {
  const vole::time_point begin = vole::now();
  vole::run([&] {
    const vole::chan<int> c;
    EXPECT_EQ(c.recv_for(1h).status, vole::chan_status::timeout);
    EXPECT_GE(vole::now() - begin, 1h);
    {
      const auto [ctx, cancel] = vole::with_timeout(vole::context::background(), 1h);
      EXPECT_EQ(vole::select(vole::on_recv(c), vole::on_done(ctx)), 1u);
      EXPECT_EQ(ctx.err(), vole::errc::deadline_exceeded);
    }
    EXPECT_GE(vole::now() - begin, 2h);
    EXPECT_EQ(vole::select(vole::on_recv(c), vole::on_after(1h)), 1u);
    EXPECT_GE(vole::now() - begin, 3h);
    vole::ticker t(1h);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(t.channel().recv().has_value());
    EXPECT_GE(vole::now() - begin, 6h);
    vole::semaphore none(0);
    EXPECT_FALSE(none.try_acquire_for(1h));
    EXPECT_GE(vole::now() - begin, 7h);
  });
  std::thread plain([] { vole::sleep_for(1h); });  // no goroutine
  plain.join();
  EXPECT_GE(vole::now() - begin, 8h);
}

}  // namespace
