// Goroutines that the network makes ready wait for one that runs on, although a P is idle.
//
//     P0                                     P1
//     polls; wake-ups for the poller's       idle; its M sleeps and does not wait in
//       batches have been wasted, so           the poller: P0 will look
//       nobody is woken
//     runs the first of the batch, which
//       computes: the others could be stolen
//     more comes, and a timer is due:
//       P0 does not look
//
// sysmon sees that P0 makes no switch, and calls a thief; it asks the poller and the timers in P0's
// place (sched/wake_policy/policy.h; docs/design/0010-second-core.md).

#include <sys/socket.h>
#include <unistd.h>
#include <vole/vole.h>

#include <array>
#include <atomic>
#include <span>
#include <thread>

#include "regress.h"
#include "sched/state.h"
#include "sched/wake_policy/state.h"

namespace {

using vole_test::hog_until;

VOLE_AT_PROCS(NetworkBehindAHog, 2, 4);

struct link {
  vole::net::conn ours;
  int theirs;
};

link make_link() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  return {vole::net::conn(ends[0]), ends[1]};
}

void tell(const link& l, char what) { EXPECT_EQ(write(l.theirs, &what, 1), 1); }

void pretend_wasted() {
  using namespace vole::rt::wake_policy;
  of_network.wasted.store(kMostPolledWasted, std::memory_order_relaxed);
}

void wait_until_all_park() {
  const auto& s = vole::rt::sched;
  while (s.idle_p_count.load() != s.procs.load()) std::this_thread::yield();
}

TEST_P(NetworkBehindAHog, IsSeenTo) {
  run([] {
    std::array<link, 6> links;
    for (link& l : links) l = make_link();
    std::atomic<int> served{0}, slept{0}, hogs{0};  // the hog's own connection has two more
    std::atomic<bool> hogged{false};
    vole::wait_group done;
    for (link& l : links)
      done.go([&] {
        char what = 0;
        while (l.ours.read(std::span(&what, 1)) == 1) {
          if (what == 'h' && hogs.exchange(1) == 0) {
            hogged = hog_until([&] { return served == 10 && slept == 1; });
          } else {
            ++served;
          }
        }
      });
    done.go([&] {
      vole::sleep_for(std::chrono::milliseconds(60));
      ++slept;
    });
    std::thread outside([&] {
      wait_until_all_park();
      pretend_wasted();
      for (const link& l : links) tell(l, 'h');
      while (hogs == 0) std::this_thread::yield();
      for (const link& l : links) tell(l, 'n');
      for (const link& l : links) shutdown(l.theirs, SHUT_WR);
    });
    done.wait();
    outside.join();
    EXPECT_TRUE(hogged) << "served " << served << ", slept " << slept;
    for (const link& l : links) close(l.theirs);
  });
}

// Two Ms go idle at once, and each could leave the poller to the other: then nobody answers.
TEST_P(NetworkBehindAHog, SomebodyAlwaysWaits) {
  run([] {
    std::array<link, 6> links;
    for (link& l : links) l = make_link();
    vole::wait_group done;
    for (link& l : links)
      done.go([&] {
        char what = 0;
        while (l.ours.read(std::span(&what, 1)) == 1) {
          if (what % 4 == 0) vole::yield();
          if (what % 8 == 0) vole::sleep_for(std::chrono::microseconds(20));
          l.ours.write(std::string_view(&what, 1));
        }
      });
    std::thread outside([&] {
      for (int round = 0; round < 3000; ++round) {
        pretend_wasted();
        const std::size_t n = 1 + static_cast<std::size_t>(round) % links.size();
        for (std::size_t i = 0; i < n; ++i)
          tell(links[i], static_cast<char>(round + static_cast<int>(i)));
        char what = 0;
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(read(links[i].theirs, &what, 1), 1);
      }
      for (const link& l : links) shutdown(l.theirs, SHUT_WR);
    });
    done.wait();
    outside.join();
    for (const link& l : links) close(l.theirs);
  });
}

}  // namespace
