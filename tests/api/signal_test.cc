// signal_notify: real signals, as values in channels.
//
// Note   ThreadSanitizer delays a signal until the thread that got it makes a call it knows:
//        there, tests that send to others are left out, raise() stays.

#include <vole/vole.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "fixture.h"
#include "parked.h"

#if defined(__SANITIZE_THREAD__)
#define VOLE_NOT_UNDER_TSAN() GTEST_SKIP() << "ThreadSanitizer delays such signals"
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VOLE_NOT_UNDER_TSAN() GTEST_SKIP() << "ThreadSanitizer delays such signals"
#endif
#endif
#ifndef VOLE_NOT_UNDER_TSAN
#define VOLE_NOT_UNDER_TSAN() static_cast<void>(0)
#endif

namespace {

using namespace std::chrono_literals;
using vole::chan_status;
using vole::signal_notify;

class Signal : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Signal);

static_assert(!std::is_copy_constructible_v<vole::registration>);
static_assert(std::is_nothrow_move_constructible_v<vole::registration>);

void (*handler_of(int number))(int) {
  struct sigaction now {};
  sigaction(number, nullptr, &now);
  return now.sa_handler;
}

TEST_P(Signal, ARaisedOneIsReceived) {
  run([] {
    const vole::chan<int> c(1);
    const auto r = signal_notify(c, {SIGUSR1, SIGUSR2});
    EXPECT_EQ(vole::num_goroutines(), 1u) << "nothing of ours is counted";
    std::raise(SIGUSR1);
    EXPECT_EQ(c.recv(), SIGUSR1);
    std::raise(SIGUSR2);
    EXPECT_EQ(c.recv(), SIGUSR2);
  });
}

TEST_P(Signal, OnePerSignalWhileThereIsRoom) {
  run([] {
    const vole::chan<int> c(1000);
    const auto r = signal_notify(c, {SIGUSR1});
    for (int i = 0; i < 1000; ++i) std::raise(SIGUSR1);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(c.recv(), SIGUSR1);
  });
}

TEST_P(Signal, WhatHasNoRoomIsDroppedAndNobodyBlocks) {
  run([] {
    const vole::chan<int> small(1), unbuffered, large(100);
    auto a = signal_notify(small, {SIGUSR1});
    auto b = signal_notify(unbuffered, {SIGUSR1});
    auto c = signal_notify(large, {SIGUSR1});
    for (int i = 0; i < 10; ++i) std::raise(SIGUSR1);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(large.recv(), SIGUSR1);
    a.stop();  // nothing comes after it has returned
    EXPECT_EQ(small.recv(), SIGUSR1);
    EXPECT_EQ(small.try_recv().status, chan_status::would_block);
  });
}

TEST_P(Signal, WhoWaitsInASelectIsServed) {
  run([] {
    const vole::chan<int> c;
    const vole::chan<> other;
    const auto r = signal_notify(c, {SIGUSR1});
    auto waits = vole::spawn([c, other] {
      std::optional<int> got;
      vole::select(vole::on_recv(other), vole::on_recv(c, got));
      return got;
    });
    vole_test::wait_until_parked(1, "select");
    std::raise(SIGUSR1);
    EXPECT_EQ(waits.join(), SIGUSR1);
  });
}

TEST_P(Signal, AllRegistrationsGetItUntilTheyEnd) {
  run([] {
    const vole::chan<int> a(10), b(10);
    auto first = signal_notify(a, {SIGUSR1, SIGUSR1});
    auto second = signal_notify(b, {SIGUSR2, SIGUSR1});
    std::raise(SIGUSR1);
    EXPECT_EQ(a.recv(), SIGUSR1);
    EXPECT_EQ(b.recv(), SIGUSR1);
    first.stop();
    first.stop();
    std::raise(SIGUSR1);
    EXPECT_EQ(b.recv(), SIGUSR1);
    EXPECT_EQ(a.size(), 0u);
    std::raise(SIGUSR2);
    EXPECT_EQ(b.recv(), SIGUSR2);
  });
}

TEST_P(Signal, OneChannelRegisteredTwiceGetsItTwice) {
  run([] {
    const vole::chan<int> c(2);
    const auto a = signal_notify(c, {SIGUSR1});
    const auto b = signal_notify(c, {SIGUSR1});
    std::raise(SIGUSR1);
    EXPECT_EQ(c.recv(), SIGUSR1);
    EXPECT_EQ(c.recv(), SIGUSR1);
  });
}

TEST_P(Signal, MovesAndAssigns) {
  run([] {
    const vole::chan<int> c(4), d(4);
    vole::registration r;
    r.stop();
    r = signal_notify(c, {SIGUSR1});
    vole::registration s(std::move(r));
    r.stop();  // NOLINT: a moved-from one is empty
    std::raise(SIGUSR1);
    EXPECT_EQ(c.recv(), SIGUSR1);
    s = signal_notify(d, {SIGUSR1});
    std::raise(SIGUSR1);
    EXPECT_EQ(d.recv(), SIGUSR1);
    EXPECT_EQ(c.size(), 0u) << "assigning ends the old one";
  });
}

TEST_P(Signal, AClosedChannelGetsNothing) {
  run([] {
    const vole::chan<int> closed(1), open(1);
    const auto a = signal_notify(closed, {SIGUSR1});
    const auto b = signal_notify(open, {SIGUSR1});
    closed.close();
    std::raise(SIGUSR1);
    EXPECT_EQ(open.recv(), SIGUSR1);
    EXPECT_FALSE(closed.recv().has_value());
  });
}

TEST_P(Signal, NoRuntimeIsNeeded) {
  const vole::chan<int> c(1);
  const auto r = signal_notify(c, {SIGUSR1});
  std::raise(SIGUSR1);
  EXPECT_EQ(c.recv(), SIGUSR1);
  EXPECT_EQ(vole::stats().procs, 0) << "none was started";
}

TEST_P(Signal, OutlivesRuntimes) {
  const vole::chan<int> c(10);
  auto r = signal_notify(c, {SIGUSR1});
  for (int i = 0; i < 5; ++i) {
    vole::run([&] {
      std::raise(SIGUSR1);
      EXPECT_EQ(c.recv(), SIGUSR1);
    });
    std::raise(SIGUSR1);
    EXPECT_EQ(c.recv(), SIGUSR1);
  }
  r.stop();
}

std::atomic<int> handled{0};
void count_it(int) { handled.fetch_add(1); }

TEST_P(Signal, TheFormerHandlerIsBackAfterTheLast) {
  struct sigaction mine {
  }, before{};
  mine.sa_handler = count_it;
  sigaction(SIGUSR1, &mine, &before);
  run([] {
    handled = 0;
    const vole::chan<int> c(2);
    auto a = signal_notify(c, {SIGUSR1});
    auto b = signal_notify(c, {SIGUSR1});
    a.stop();
    std::raise(SIGUSR1);
    EXPECT_EQ(c.recv(), SIGUSR1);
    EXPECT_EQ(handled, 0);
    b.stop();
    std::raise(SIGUSR1);
    EXPECT_EQ(handled, 1);
    EXPECT_EQ(c.size(), 0u);
  });
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_P(Signal, TheFormerActionIsBackAfterTheLast) {
  run([] {
    const vole::chan<int> c(1);
    std::signal(SIGUSR2, SIG_IGN);
    { const auto r = signal_notify(c, {SIGUSR2}); }
    EXPECT_EQ(handler_of(SIGUSR2), SIG_IGN);
    std::signal(SIGUSR2, SIG_DFL);
    { const auto r = signal_notify(c, {SIGUSR2}); }
    EXPECT_EQ(handler_of(SIGUSR2), SIG_DFL);
  });
}

TEST_P(Signal, AHandlerPutOverOursStays) {
  run([] {
    const vole::chan<int> c(1);
    auto r = signal_notify(c, {SIGUSR1});
    std::signal(SIGUSR1, count_it);
    r.stop();
    EXPECT_EQ(handler_of(SIGUSR1), &count_it);
    std::signal(SIGUSR1, SIG_DFL);
  });
}

std::string refusal(std::vector<int> signals) {
  try {
    const auto r = signal_notify(vole::chan<int>(1), signals);
    return "not refused";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

TEST_P(Signal, WhatCannotBeHeardIsRefused) {
  run([] {
    for (const int n : {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, 0, -1,
                        65, 1 << 20, 32, 33})  // the last two are the C library's own
      EXPECT_NE(refusal({SIGUSR1, n}).find("signal " + std::to_string(n) + " "), std::string::npos)
          << refusal({SIGUSR1, n});
    EXPECT_NE(refusal({}), "not refused");
    EXPECT_THROW((void)signal_notify(nullptr, {SIGUSR1}), std::invalid_argument);
    EXPECT_EQ(handler_of(SIGUSR1), SIG_DFL) << "all or nothing";
  });
}

TEST_P(Signal, ErrnoIsAsBefore) {
  run([] {
    const vole::chan<int> c(1);
    const auto r = signal_notify(c, {SIGUSR1});
    errno = ENOTTY;
    std::raise(SIGUSR1);
    EXPECT_EQ(errno, ENOTTY);
    c.recv();
  });
}

TEST_P(Signal, AnInterruptedCallGoesOn) {
  VOLE_NOT_UNDER_TSAN();
  const vole::chan<int> c(1);
  const auto r = signal_notify(c, {SIGUSR1});
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  int interrupted = 0;
  std::thread reader([&] {
    char byte;
    while (read(ends[0], &byte, 1) < 0 && errno == EINTR) ++interrupted;
  });
  for (int i = 0; i < 50; ++i) {
    pthread_kill(reader.native_handle(), SIGUSR1);
    EXPECT_EQ(c.recv(), SIGUSR1);
  }
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  reader.join();
  EXPECT_EQ(interrupted, 0);
  close(ends[0]);
  close(ends[1]);
}

TEST_P(Signal, AChildsEnd) {
  VOLE_NOT_UNDER_TSAN();
  run([] {
    const vole::chan<int> c(1);
    const auto r = signal_notify(c, {SIGCHLD});
    const pid_t child = fork();
    if (child == 0) _exit(7);
    EXPECT_EQ(c.recv(), SIGCHLD);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
  });
}

// Real-time signals queue up: each that the kernel took must come.
TEST_P(Signal, AStormFromOutsideWhileGoroutinesSwitch) {
  VOLE_NOT_UNDER_TSAN();
  constexpr int kStorm = 5000;
  run([] {
    const int number = SIGRTMIN + 3;
    const vole::chan<int> c(2 * kStorm), some(1);  // c: room for all of them
    const auto r = signal_notify(c, {number, SIGUSR1});
    const auto s = signal_notify(some, {number, SIGUSR1});
    std::atomic<bool> over{false};
    vole::wait_group busy;
    for (int i = 0; i < 8; ++i)
      busy.go([&over] {
        const vole::chan<int> own(1);
        while (!over.load()) {
          own.send(1);
          vole::yield();
          own.recv();
          vole::go([] {});
        }
      });
    std::thread outside([number] {
      for (int i = 0; i < kStorm; ++i) {
        while (sigqueue(getpid(), number, {}) != 0) std::this_thread::yield();
        if (i % 16 == 0) kill(getpid(), SIGUSR1);
      }
    });
    int came = 0;
    while (came < kStorm) came += c.recv() == number ? 1 : 0;
    outside.join();
    over = true;
    busy.wait();
  });
}

TEST_P(Signal, RegistrationsComeAndGoInAStorm) {
  VOLE_NOT_UNDER_TSAN();
  std::signal(SIGUSR1, SIG_IGN);  // one of the storm may still be pending when the last one ends
  run([] {
    const vole::chan<int> keeper(1);
    const auto keep = signal_notify(keeper, {SIGUSR1});
    std::atomic<bool> over{false};
    std::thread outside([&over] {
      while (!over.load()) kill(getpid(), SIGUSR1);
    });
    vole::wait_group parties;
    for (int i = 0; i < 4; ++i)
      parties.go([] {
        for (int n = 0; n < 50; ++n) {
          const vole::chan<int> c(1);
          const auto r = signal_notify(c, {SIGUSR1, SIGUSR2});
          EXPECT_EQ(c.recv(), SIGUSR1);
        }
      });
    parties.wait();
    over = true;
    outside.join();
  });
  std::signal(SIGUSR1, SIG_DFL);
}

}  // namespace
