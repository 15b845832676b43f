// Bugs that other runtimes have had, re-enacted. docs/reliability.md lists them, and those whose tests
// stand elsewhere.

#include <sys/eventfd.h>
#include <unistd.h>

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "poll/poll.h"
#include "regress.h"
#include "sched/park.h"
#include "sched/wait/deadline.h"
#include "sync/waitable.h"

namespace {

namespace rt = vole::rt;
using std::chrono::milliseconds;

VOLE_AT_PROCS(BugsOfOthers, 1, 2, 4);

// The clock of a wait that ended in time ends the next wait (boostorg/fiber#259).
//
//     goroutine                             clock
//     waits for A until t1; is served
//     waits for B, with a record at the
//       same place of its stack
//                                           t1: claims what stands there now
//     "too late"
[[gnu::noinline]] bool acquires(vole::semaphore& s, milliseconds within) {
  return s.try_acquire_for(within);
}

constexpr milliseconds kFirst{50};

TEST_P(BugsOfOthers, TheClockOfAWaitThatIsOverLeavesTheNextAlone) {
  run([] {
    vole::semaphore first(0), second(0);
    std::atomic<bool> waits{false};
    auto waiting = vole::spawn([&] {
      waits = true;
      acquires(first, kFirst);  // on a busy machine it may be late: then there is no old clock
      return acquires(second, std::chrono::hours(1));
    });
    while (!waits) vole::yield();
    for (int i = 0; i < 20; ++i) vole::yield();
    first.release();
    vole::sleep_for(2 * kFirst);
    second.release();
    EXPECT_TRUE(waiting.join());
  });
}

// The clock fires before the goroutine that waits is away from its stack (brpc#617). Whoever fires it is
// held up by the object's lock, which is freed after the switch.
TEST_P(BugsOfOthers, AClockMayFireBeforeTheWaiterIsAway) {
  run([] {
    vole::detail::waitable object{};
    rt::deadline clock;
    std::atomic<bool> armed{false};
    std::thread fires([&] {
      while (!armed) std::this_thread::yield();
      rt::guest_enter();
      clock.clock.fire(&clock.clock, nullptr);
      rt::guest_leave();
    });
    rt::M* m = rt::enter();
    vole::detail::lock(object);
    rt::waiter* const self = rt::self(m, &object, &vole::detail::unlink_waiter);
    rt::wait_queue::push_back(object.waiters, self);
    rt::arm(clock, m, self, rt::kNoTimer);
    armed = true;
    while (clock.winner.load(rt::seq_cst) == 0) std::this_thread::yield();
    vole_test::compute_for(milliseconds(2));
    EXPECT_EQ(rt::park(&vole::detail::unlock_after_switch, &object, rt::wait_reason::semaphore),
              rt::kTimedOut);
    m = rt::enter();
    rt::disarm(clock, m);
    rt::leave(m);
    EXPECT_EQ(object.waiters.first, nullptr);
    fires.join();
  });
}

// An event of a file that is closed reaches the one that has its record now (golang/go#59545). The
// kernel goes on to tell of a number that was closed behind our back, as long as the file has another.
TEST(BugsOfOthersPoller, AnEventOfTheFileBeforeIsDropped) {
  using namespace vole::rt::poll;
  const int kept = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), number = dup(kept);
  ASSERT_GE(number, 0);
  descriptor* before = nullptr;
  ASSERT_EQ(open(number, &before), 0);
  ::close(number);
  close(before);

  const int idle = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  descriptor* d = nullptr;
  ASSERT_EQ(open(idle, &d), 0);
  EXPECT_EQ(d, before) << "another record: this shows nothing";
  ASSERT_EQ(eventfd_write(kept, 1), 0);
  completions done;
  for (int i = 0; i < 3; ++i) wait(0, done);
  EXPECT_EQ(word_of(*d, way::out).load(rt::seq_cst), descriptor::kReady) << "its own events come";
  EXPECT_EQ(word_of(*d, way::in).load(rt::seq_cst), descriptor::kNil);
  EXPECT_EQ(done.pop(), nullptr);
  close(d);
  ::close(idle);
  ::close(kept);
}

// A value's destructor that waits, and uses what the library was just busy with (tokio#5429).
struct waits_when_destroyed {
  vole::chan<int> tell;
  std::shared_ptr<vole::mutex> m;
  ~waits_when_destroyed() {
    const std::lock_guard hold(*m);
    vole::yield();
    tell.send(1);
  }
};

TEST_P(BugsOfOthers, DestructorsOfValuesMayWait) {
  run([] {
    const vole::chan<int> told;
    const auto m = std::make_shared<vole::mutex>();
    const auto value = [&] {
      return std::unique_ptr<waits_when_destroyed>(new waits_when_destroyed{told, m});
    };
    int destroyed = 0, expected = 0;
    const auto expect_one_more = [&] {
      ++expected;
      while (destroyed < expected) destroyed += told.recv().value_or(0);
    };
    // In a channel that ends; in one that is closed; the result that nobody asks for; a goroutine's own.
    vole::go([&, c = vole::chan<std::unique_ptr<waits_when_destroyed>>(2)]() mutable {
      c.send(value());
      c = {};
    });
    expect_one_more();
    vole::go([&] {
      vole::chan<std::unique_ptr<waits_when_destroyed>> c(1);
      c.send(value());
      c.close();
    });
    expect_one_more();
    vole::go([&] { vole::spawn(value).detach(); });
    expect_one_more();
    vole::go([&] {
      static vole::local<std::unique_ptr<waits_when_destroyed>> own;
      *own = value();
    });
    expect_one_more();
    std::thread plain([&] {
      const vole::chan<std::unique_ptr<waits_when_destroyed>> c(1);
      c.send(value());
    });
    expect_one_more();
    plain.join();
  });
}

}  // namespace
