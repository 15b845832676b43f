// Programs in strict mode that have signals of their own, or calls that a signal would interrupt.

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "strict.h"

namespace {

using namespace vole::crash_test;
using namespace std::chrono_literals;

// ── whose signal ──

std::atomic<int> users{0};
void count_users(int, siginfo_t*, void*) { ++users; }

int chained() {
  struct sigaction theirs {};
  theirs.sa_sigaction = count_users;
  theirs.sa_flags = SA_SIGINFO;
  sigaction(SIGURG, &theirs, nullptr);
  return vole::run([] {
    hogs them(3);
    until_preemptions(5);
    VOLE_MUST(users == 0);  // ours are not theirs
    for (int i = 0; i < 5; ++i) {
      while (users == 0) raise(SIGURG);  // pending together with ours, the two become one
      std::thread([] { raise(SIGURG); }).join();
      kill(getpid(), SIGURG);  // to whichever thread
      while (users < 3) vole::sleep_for(1ms);
      users = 0;
    }
    until_preemptions(5);
    return failed;
  });
}

// Nobody had a handler: a stray SIGURG is ignored as before.
int stray() {
  return vole::run([] {
    hogs them(3);
    raise(SIGURG);
    until_preemptions(5);
    kill(getpid(), SIGURG);
    until_preemptions(5);
    return 0;
  });
}

// preemptsignal=10, whose default action kills: a stray one still does.
int stray_kills() {
  return vole::run([] {
    hogs them(3);
    until_preemptions(5);
    raise(SIGUSR1);
    return kAlive;
  });
}

// Threads where nothing can be captured are evicted, sooner or later.
template <void (*Arm)()>
int evicted_instead() {
  return vole::run([] {
    vole::set_max_procs(1);
    std::atomic<bool> stop{false};
    vole::wait_group done;
    done.go([&stop] {
      vole::lock_os_thread();
      stack_t was{};
      sigaltstack(nullptr, &was);
      Arm();
      while (!stop) {
      }
      sigaltstack(&was, nullptr);
    });
    while (vole::stats().evictions == 0) vole::sleep_for(1ms);
    stop = true;
    done.wait();
    return failed;
  });
}

void own_alternate_stack() {
  static char room[64 * 1024];
  stack_t mine{};
  mine.ss_sp = room;
  mine.ss_size = sizeof room;
  VOLE_MUST(sigaltstack(&mine, nullptr) == 0);
}

void block_all() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

// ── handlers of the program's own ──

std::atomic<int> handled{0};
void long_handler(int) {
  work(200'000);
  ++handled;
}

template <int Flags>
int own_handler() {
  struct sigaction theirs {};
  theirs.sa_handler = long_handler;
  theirs.sa_flags = Flags;
  sigaction(SIGUSR2, &theirs, nullptr);
  return hammer(4, 40, [](int) {
    const int was = handled;
    raise(SIGUSR2);
    VOLE_MUST(handled > was);
    work(200'000);  // on the goroutine's own stack, where it can be stopped
  });
}

// ── calls that a signal would interrupt ──

void nap(long ns) {
  const timespec t{0, ns};
  VOLE_MUST(nanosleep(&t, nullptr) == 0);
}

void wait_everywhere(int epoll) {
  VOLE_MUST(poll(nullptr, 0, 1) == 0);
  epoll_event e{};
  VOLE_MUST(epoll_wait(epoll, &e, 1, 1) == 0);
  sem_t s;
  sem_init(&s, 0, 0);
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  VOLE_MUST(sem_timedwait(&s, &until) != 0 && errno == ETIMEDOUT);
  sem_destroy(&s);
  nap(50'000);
}

int no_interrupted_calls() {
  static const int epoll = epoll_create1(0);
  return hammer(6, 30, [](int i) {
    if (i >= 3) return work(100'000);
    wait_everywhere(epoll);
    work(100'000);
  });
}

constexpr scenario kAll[] = {
    {"chained", chained},
    {"stray", stray},
    {"stray_kills", stray_kills},
    {"own_alternate_stack", evicted_instead<own_alternate_stack>},
    {"blocked_signal", evicted_instead<block_all>},
    {"handler", own_handler<0>},
    {"handler_on_stack", own_handler<SA_ONSTACK>},
    {"calls", no_interrupted_calls},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
