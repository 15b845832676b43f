// What an interposing library relies on: vole/detail/foreign.h.

#include <vole/detail/foreign.h>
#include <vole/vole.h>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

namespace foreign = vole::detail::foreign;
using namespace std::chrono_literals;

constexpr std::int64_t kMilli = 1'000'000;

struct socket_pair {
  socket_pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0); }
  ~socket_pair() {
    for (const int each : fd)
      if (each >= 0) ::close(each);
  }
  socket_pair(const socket_pair&) = delete;
  socket_pair& operator=(const socket_pair&) = delete;
  int fd[2];
};

long thread_id() { return ::syscall(SYS_gettid); }

int wait_for(int fd, short events, std::int64_t deadline = foreign::kNoDeadline) {
  pollfd p{fd, events, 0};
  const int n = foreign::wait_fds(&p, 1, deadline);
  return n == 1 ? p.revents : n;
}
void put(int fd, char c = 'x') { EXPECT_EQ(::write(fd, &c, 1), 1); }
void get(int fd) {
  char c;
  EXPECT_EQ(::read(fd, &c, 1), 1);
}

// What read(2) of a library comes to with hooks.
void read_hooked(int fd) {
  char c;
  while (::recv(fd, &c, 1, MSG_DONTWAIT) < 0) EXPECT_EQ(wait_for(fd, POLLIN) & POLLIN, POLLIN);
}

class Foreign : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Foreign);

TEST(ForeignPlain, APlainThreadCannotPark) { EXPECT_FALSE(foreign::can_park()); }

TEST_P(Foreign, AWaitEndsWhenSomethingComes) {
  run([] {
    EXPECT_TRUE(foreign::can_park());
    socket_pair s;
    auto writer = vole::spawn([&] { put(s.fd[1]); });
    EXPECT_EQ(wait_for(s.fd[0], POLLIN), POLLIN);
    writer.join();
    EXPECT_EQ(wait_for(s.fd[0], POLLIN), POLLIN) << "level-triggered";
    EXPECT_EQ(wait_for(s.fd[0], POLLIN | POLLOUT), POLLIN | POLLOUT);
  });
}

TEST_P(Foreign, ADeadlineEndsAWait) {
  run([] {
    socket_pair s;
    const std::int64_t begin = foreign::now_ns();
    EXPECT_EQ(wait_for(s.fd[0], POLLIN, begin + 5 * kMilli), 0);
    EXPECT_GE(foreign::now_ns() - begin, 5 * kMilli);
    EXPECT_EQ(wait_for(s.fd[0], POLLIN, begin), 0) << "long past";
    put(s.fd[1]);
    EXPECT_EQ(wait_for(s.fd[0], POLLIN), POLLIN) << "an arming was left behind";
  });
}

TEST_P(Foreign, ThePeersEndIsSeen) {
  run([] {
    socket_pair s;
    auto closer = vole::spawn([&] { ::close(std::exchange(s.fd[1], -1)); });
    EXPECT_EQ(wait_for(s.fd[0], POLLIN | POLLRDHUP) & POLLHUP, POLLHUP);
    closer.join();
  });
}

TEST_P(Foreign, BothWaysAndSeveralWaitersAtOnce) {
  run([] {
    socket_pair s;
    ::fcntl(s.fd[0], F_SETFL, O_NONBLOCK);
    char block[4096] = {};
    while (::write(s.fd[0], block, sizeof(block)) > 0) {
    }
    std::vector<vole::join_handle<int>> waiting;
    for (int i = 0; i < 4; ++i)
      waiting.push_back(
          vole::spawn([&s, i] { return wait_for(s.fd[0], i % 2 == 0 ? POLLIN : POLLOUT); }));
    while (vole::stats().hooked_waits < 4) vole::yield();
    put(s.fd[1]);
    EXPECT_EQ(waiting[0].join(), POLLIN);
    EXPECT_EQ(waiting[2].join(), POLLIN);
    while (::recv(s.fd[1], block, sizeof(block), MSG_DONTWAIT) > 0) {
    }
    EXPECT_EQ(waiting[1].join(), POLLOUT);
    EXPECT_EQ(waiting[3].join(), POLLOUT);
  });
}

TEST_P(Foreign, ManyFilesAtOnce) {
  run([] {
    constexpr int kMany = 20;
    std::vector<socket_pair> s(kMany);
    std::vector<pollfd> p;
    for (socket_pair& each : s) p.push_back({each.fd[0], POLLIN, 7});
    p.push_back({-1, POLLIN, 7});
    auto writer = vole::spawn([&] {
      put(s[3].fd[1]);
      put(s[17].fd[1]);
    });
    const int n =
        foreign::wait_fds(p.data(), static_cast<unsigned>(p.size()), foreign::kNoDeadline);
    EXPECT_GE(n, 1);
    writer.join();
    EXPECT_EQ(foreign::wait_fds(p.data(), static_cast<unsigned>(p.size()), foreign::kNoDeadline),
              2);
    EXPECT_EQ(p[3].revents, POLLIN);
    EXPECT_EQ(p[17].revents, POLLIN);
    EXPECT_EQ(p[0].revents, 0);
    EXPECT_EQ(p[kMany].revents, 0);
  });
}

TEST_P(Foreign, NoFilesIsASleep) {
  run([] {
    const std::int64_t begin = foreign::now_ns();
    EXPECT_EQ(foreign::wait_fds(nullptr, 0, begin + 3 * kMilli), 0);
    foreign::sleep_home(begin + 6 * kMilli);
    EXPECT_GE(foreign::now_ns() - begin, 6 * kMilli);
  });
}

TEST_P(Foreign, ANumberThatIsAnotherFileNow) {
  run([] {
    const auto ends = [](int number, int other, int kept) {
      EXPECT_EQ(wait_for(number, POLLIN, foreign::now_ns() + kMilli), 0);  // armed, and left behind
      socket_pair next;
      EXPECT_EQ(::dup2(next.fd[0], number), number);  // closes it, behind our back
      put(other);                                     // the former file, open as `kept`
      EXPECT_EQ(wait_for(number, POLLIN, foreign::now_ns() + kMilli), 0);
      auto writer = vole::spawn([&] { put(next.fd[1]); });
      EXPECT_EQ(wait_for(number, POLLIN), POLLIN);
      get(number);
      writer.join();
      EXPECT_EQ(wait_for(kept, POLLIN), POLLIN);
      EXPECT_EQ(::dup2(kept, number), number);  // and back
      EXPECT_EQ(wait_for(number, POLLIN), POLLIN);
    };
    socket_pair s;
    const int kept = ::dup(s.fd[0]);
    ends(s.fd[0], s.fd[1], kept);
    ::close(kept);
  });
}

TEST_P(Foreign, OneFileUnderTwoNumbers) {
  run([] {
    socket_pair s;
    const int twin = ::dup(s.fd[0]);
    auto first = vole::spawn([&] { return wait_for(s.fd[0], POLLIN); });
    auto second = vole::spawn([&] { return wait_for(twin, POLLIN); });
    while (vole::stats().hooked_waits < 2) vole::yield();
    put(s.fd[1]);
    EXPECT_EQ(first.join(), POLLIN);
    EXPECT_EQ(second.join(), POLLIN);
    ::close(twin);
  });
}

TEST_P(Foreign, WhoeverClosesAFileWakesItsSleepers) {
  run([this] {
    socket_pair s;
    const int kept = ::dup(s.fd[0]);
    auto sleeper = vole::spawn([&] { return wait_for(s.fd[0], POLLIN); });
    while (vole::stats().hooked_waits == 0) vole::yield();
    const auto close_it = [&] {
      foreign::closing c(s.fd[0]);
      ::close(std::exchange(s.fd[0], -1));
      c.done();
    };
    if (procs() == 2) {
      std::thread(close_it).join();
    } else {
      close_it();
    }
    EXPECT_EQ(sleeper.join(), POLLNVAL);
    put(s.fd[1]);
    EXPECT_EQ(wait_for(kept, POLLIN), POLLIN);
    ::close(kept);
  });
}

TEST_P(Foreign, AClosingThatFailsWakesNobody) {
  run([] {
    socket_pair s;
    std::atomic<bool> ended{false};
    auto sleeper = vole::spawn([&] {
      const int what = wait_for(s.fd[0], POLLIN);
      ended = true;
      return what;
    });
    while (vole::stats().hooked_waits == 0) vole::yield();
    { const foreign::closing c(s.fd[0]); }
    for (int i = 0; i < 100; ++i) vole::yield();
    EXPECT_FALSE(ended);
    put(s.fd[1]);
    EXPECT_EQ(sleeper.join(), POLLIN);
  });
}

// Pairs that play ping-pong, and others that compute and are moved about: everybody comes home.
TEST_P(Foreign, AWaitComesBackOnItsThread) {
  run([] {
    constexpr int kPairs = 20, kTurns = 200;
    std::atomic<int> elsewhere{0}, players{0};
    vole::wait_group all;
    const auto play = [&](int fd, bool first) {
      for (int i = 0; i < kTurns; ++i) {
        if (first) put(fd);
        const long before = thread_id();
        read_hooked(fd);
        if (thread_id() != before) elsewhere.fetch_add(1);
        if (!first) put(fd);
        if (i % 16 == 0) vole::yield();
      }
      players.fetch_sub(1);
    };
    std::vector<socket_pair> s(kPairs);
    players = 2 * kPairs;
    for (socket_pair& each : s) {
      all.go([&] { play(each.fd[0], true); });
      all.go([&] { play(each.fd[1], false); });
    }
    for (int i = 0; i < 4; ++i)
      all.go([&] {
        while (players.load() != 0) vole::yield();
      });
    all.wait();
    // A goroutine that migrates may meet its former home by chance.
    EXPECT_LE(static_cast<std::uint64_t>(elsewhere.load()), vole::stats().hooked_migrations);
    EXPECT_GE(vole::stats().hooked_waits, 1u);
  });
}

// The home sleeps in a call that nobody has hooked.
TEST_P(Foreign, AHomeThatIsBlockedGivesItsGoroutinesAway) {
  run([] {
    socket_pair s, blocked;
    auto sleeper = vole::spawn([&] {
      const long home = thread_id();
      EXPECT_EQ(wait_for(s.fd[0], POLLIN), POLLIN);
      return thread_id() == home;
    });
    while (vole::stats().hooked_waits == 0) vole::yield();
    // One of these, at least, blocks the home.
    std::vector<vole::join_handle<void>> blockers;
    for (int i = 0; i < 8; ++i) blockers.push_back(vole::spawn([&] { get(blocked.fd[0]); }));
    put(s.fd[1]);
    const bool stayed = sleeper.join();
    EXPECT_LE(stayed ? 0u : 1u, vole::stats().hooked_migrations);
    for (auto& b : blockers) put(blocked.fd[1]), static_cast<void>(b);
    for (auto& b : blockers) b.join();
  });
}

// A mutex is held across a wait, and the home is blocked by the next who wants it.
TEST_P(Foreign, AMutexHeldAcrossAWait) {
  run([] {
    socket_pair s;
    std::mutex m;
    auto holder = vole::spawn([&] {
      const std::lock_guard hold(m);
      EXPECT_EQ(wait_for(s.fd[0], POLLIN), POLLIN);
    });
    while (vole::stats().hooked_waits == 0) vole::yield();
    std::vector<vole::join_handle<void>> others;
    for (int i = 0; i < 4; ++i)
      others.push_back(vole::spawn([&] { const std::lock_guard hold(m); }));
    auto writer = vole::spawn([&] { put(s.fd[1]); });
    holder.join();
    for (auto& o : others) o.join();
    writer.join();
  });
}

// A goroutine that owns its thread.
TEST_P(Foreign, ALockedThreadIsNobodysHome) {
  run([] {
    socket_pair a, b;
    auto locked = vole::spawn([&] {
      vole::lock_os_thread();
      const long home = thread_id();
      EXPECT_EQ(wait_for(a.fd[0], POLLIN), POLLIN);
      EXPECT_EQ(thread_id(), home);
    });
    auto other = vole::spawn([&] { EXPECT_EQ(wait_for(b.fd[0], POLLIN), POLLIN); });
    while (vole::stats().hooked_waits == 0) vole::yield();
    vole::lock_os_thread();
    put(b.fd[1]);
    other.join();
    put(a.fd[1]);
    locked.join();
    vole::unlock_os_thread();
  });
}

TEST_P(Foreign, ACallAtHomeStaysOnItsThread) {
  run([] {
    vole::wait_group all;
    for (int i = 0; i < 8; ++i)
      all.go([] {
        const long home = thread_id();
        for (int k = 0; k < 20; ++k) {
          {
            const foreign::call_at_home here;
            ::usleep(100);
          }
          foreign::give_way();
        }
        const bool stayed = thread_id() == home;  // what follows may move it
        if (vole::stats().hooked_migrations == 0) EXPECT_TRUE(stayed);
      });
    all.wait();
  });
}

// The runtime ends under those who wait; their files, their memory and their numbers are free.
TEST_P(Foreign, TheEndOfTheRuntime) {
  socket_pair s;
  const auto body = [&] {
    for (int i = 0; i < 8; ++i)
      vole::go([&s, i] {
        pollfd p[6];
        for (pollfd& each : p) each = {s.fd[0], POLLIN, 0};
        foreign::wait_fds(p, i % 2 == 0 ? 1 : 6, foreign::kNoDeadline);
      });
    while (vole::stats().hooked_waits < 8) vole::yield();
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(vole::run(body), 0);
    put(s.fd[1]);
    EXPECT_EQ(vole::run([&] { EXPECT_EQ(wait_for(s.fd[0], POLLIN), POLLIN); }), 0);
    get(s.fd[0]);
  }
}

}  // namespace
