// What comes from outside while goroutines work: a thousand signals of several kinds a second, a stop
// and a continue again and again, other processors to run on. Nothing is lost, and nothing fails.

#include <csignal>
#include <sched.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "stress.h"

namespace {

using namespace std::chrono_literals;
using vole_test::dice;

class OutsideStress : public vole_test::Stress {};
INSTANTIATE_TEST_SUITE_P(Ps, OutsideStress, testing::Values(1, 4), vole_test::procs_name);

void echo(vole::net::conn c) {
  char text[16];
  while (const std::size_t n = c.read(text)) c.write(std::string_view(text, n));
}

void talk(vole::net::conn c, dice d, const vole_test::time_limit& limit) {
  char got[16];
  while (!limit.over()) {
    const std::string sent(1 + d.below(16), static_cast<char>('a' + d.below(26)));
    c.write(sent);
    ASSERT_EQ(c.read_full(std::span(got, sent.size())), sent.size());
    ASSERT_EQ(std::string_view(got, sent.size()), sent);
  }
}

// Waits of every kind, each of which must end as it would without a disturbance.
void wait_for_this_and_that(dice d, const vole_test::time_limit& limit) {
  vole::semaphore none(0), some(1);
  const vole::chan<int> c;
  while (!limit.over()) {
    const auto least = std::chrono::microseconds(100 + d.below(400));
    const auto begin = std::chrono::steady_clock::now();
    switch (d.below(5)) {
      case 0: vole::sleep_for(least); break;
      case 1: ASSERT_FALSE(none.try_acquire_for(least)); break;
      case 2: ASSERT_EQ(c.recv_for(least).status, vole::chan_status::timeout); break;
      case 3: vole::blocking([&] { std::this_thread::sleep_for(least); }); break;
      default:
        ASSERT_TRUE(some.try_acquire_for(1h));
        vole::go([&] { some.release(); });
        ASSERT_TRUE(some.try_acquire_for(1h));
        some.release();
        continue;
    }
    ASSERT_GE(std::chrono::steady_clock::now() - begin, least);
  }
}

void work(const vole_test::time_limit& limit) {
  vole::net::listener l = vole::net::listen("tcp", "127.0.0.1:0");
  vole::wait_group all, served;
  constexpr std::uint64_t kTalkers = 3;
  served.go([&] {
    for (std::uint64_t i = 0; i < kTalkers; ++i)
      served.go([c = l.accept()]() mutable { echo(std::move(c)); });
  });
  for (std::uint64_t i = 0; i < kTalkers; ++i) {
    all.go([&, i] { talk(vole::net::dial("tcp", l.local_address().to_string()), dice(i), limit); });
    all.go([&, i] { wait_for_this_and_that(dice(10 + i), limit); });
  }
  std::thread plain([&] { wait_for_this_and_that(dice(20), limit); });
  all.wait();
  plain.join();
  served.wait();
}

// A handler without SA_RESTART: calls that are interrupted say so.
class handled {
 public:
  explicit handled(int signal) : signal_(signal) {
    struct sigaction action {};
    action.sa_handler = [](int) { count.fetch_add(1, std::memory_order_relaxed); };
    sigaction(signal, &action, &before_);
  }
  ~handled() { sigaction(signal_, &before_, nullptr); }
  static inline std::atomic<long> count{0};

 private:
  int signal_;
  struct sigaction before_ {};
};

void ring(int clock, long us) {
  const itimerval every{{0, us}, {0, us}};
  setitimer(clock, &every, nullptr);
}

TEST_P(OutsideStress, AThousandSignalsASecond) {
  const handled alarm(SIGALRM), profile(SIGPROF), child(SIGCHLD);
  const vole_test::time_limit limit;
  handled::count = 0;
  std::atomic<bool> stop{false};
  std::thread sends([&] {
    for (int i = 0; !stop; ++i) {
      kill(getpid(), i % 2 == 0 ? SIGCHLD : SIGURG);
      std::this_thread::sleep_for(1ms);
    }
  });
  ring(ITIMER_REAL, 1000);
  ring(ITIMER_PROF, 1000);
  vole::run([&] { work(limit); });
#ifndef VOLE_SANITIZE_THREAD  // TSan runs handlers late, when the thread calls libc next. If another
  // signal comes just then, it forgets which ones were blocked, and all stay so.
  while (handled::count <= 10) std::this_thread::sleep_for(1ms);
#endif
  ring(ITIMER_REAL, 0);
  ring(ITIMER_PROF, 0);
  stop = true;
  sends.join();
  expect_clean();
}

TEST_P(OutsideStress, StoppedAndContinued) {
  const vole_test::time_limit limit;
  const pid_t us = getpid();
  const pid_t other = fork();
  if (other == 0) {  // at most 100 times, so that nobody is left stopped
    for (int i = 0; i < 100 && getppid() == us; ++i) {
      kill(us, SIGSTOP);
      usleep(1000);
      kill(us, SIGCONT);
      usleep(4000);
    }
    _exit(0);
  }
  ASSERT_GT(other, 0);
  vole::run([&] { work(limit); });
  waitpid(other, nullptr, 0);
  expect_clean();
}

void run_all_threads_on(const cpu_set_t& where) {
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone))
    sched_setaffinity(std::stoi(task.path().filename().string()), sizeof where, &where);
}

TEST_P(OutsideStress, OtherProcessorsToRunOn) {
  const vole_test::time_limit limit;
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  std::atomic<bool> stop{false};
  std::thread moves([&] {
    while (!stop) {
      run_all_threads_on(one);
      std::this_thread::sleep_for(5ms);
      run_all_threads_on(all);
      std::this_thread::sleep_for(5ms);
    }
    run_all_threads_on(all);
  });
  vole::run([&] { work(limit); });
  stop = true;
  moves.join();
  expect_clean();
}

}  // namespace
