// Programs that stall, leak, deadlock, or are asked by SIGQUIT what they do.

#include <unistd.h>
#include <csignal>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "asks.h"
#include "scenario.h"

namespace {

using namespace vole::crash_test;
using namespace std::chrono_literals;

int stderr_into_pipe() {
  int ends[2];
  if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) std::_Exit(1);
  ::close(ends[1]);
  return ends[0];
}

// Reads until all of these have come, and repeats them on stdout. They come, or the test's patience
// ends.
std::string read_until_has(int from, std::initializer_list<const char*> all) {
  std::string text;
  const auto has_all = [&] {
    for (const char* what : all)
      if (text.find(what) == std::string::npos) return false;
    return true;
  };
  while (!has_all()) {
    char some[4096];
    const ssize_t n = ::read(from, some, sizeof some);
    if (n <= 0) std::_Exit(1);
    text.append(some, static_cast<std::size_t>(n));
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  return text;
}

std::atomic<bool> stop{false};

[[gnu::noinline]] void never_yields() {
  while (!stop.load(std::memory_order_relaxed)) {
  }
  asm volatile("" ::: "memory");
}

// VOLE_DEBUG=stall=MS, with one that yields beside the loop.
int stalls() {
  const int from = stderr_into_pipe();
  return vole::run([&] {
    vole::wait_group all;
    all.go({.name = "stuck"}, &never_yields);
    all.go({.name = "polite"}, [] {
      while (!stop.load(std::memory_order_relaxed)) vole::yield();
    });
    std::thread reader([&] {
      read_until_has(from, {kAsks ? "never_yields()" : "has not yielded for", "created by"});
      stop = true;
    });
    all.wait();
    vole::blocking([&] { reader.join(); });
  });
}

// Every P spins. The first dump is by the signal, and the program goes on.
int sigquit() {
  const int from = stderr_into_pipe();
  return vole::run([&] {
    vole::wait_group all;
    for (int i = 0; i < vole::max_procs() + 1; ++i) all.go({.name = "spinner"}, &never_yields);
    all.go({.name = "parked"}, [] { vole::sleep_for(10h); });
    until_dump_has("waiting, sleep");
    std::thread asker([&] {
      for (int round = 0; round < 2; ++round) {
        // ThreadSanitizer has the handler wait until the thread that got the signal calls something.
        kAsks ? ::kill(::getpid(), SIGQUIT) : ::raise(SIGQUIT);
        read_until_has(from, {"vole: SIGQUIT: ", "(spinner)", "(parked)", "sleep"});
      }
      stop = true;
      std::_Exit(0);  // one sleeps for hours
    });
    all.wait();
    asker.join();
  });
}

// By the call, before there is a runtime; and a handler of the program's own has its turn.
std::atomic<int> heard{0};
int sigquit_by_call() {
  const int from = stderr_into_pipe();
  struct sigaction mine {};
  mine.sa_handler = [](int) { ++heard; };
  ::sigaction(SIGQUIT, &mine, nullptr);
  vole::dump_on_sigquit();
  vole::dump_on_sigquit();
  ::raise(SIGQUIT);
  read_until_has(from, {"vole: SIGQUIT: no runtime runs\n"});
  vole::run([&] {
    ::raise(SIGQUIT);
    vole::blocking([&] { read_until_has(from, {"vole: SIGQUIT: 1 goroutine\n", "(main)"}); });
  });
  return heard == 2 ? 0 : 1;
}

// With the reporter there, a deadlock is still one.
int sigquit_and_deadlock() {
  return vole::run([] {
    vole::chan<int>().recv();
    return kAlive;
  });
}

void waits_for_nothing(const vole::chan<int>& c) { (void)c.recv(); }

// VOLE_DEBUG=leaks=1
int leaks() {
  static vole::chan<int> never;
  const int status = vole::run([] {
    for (int i = 0; i < 3; ++i) vole::go({.name = "lost"}, [] { waits_for_nothing(never); });
    vole::go({.name = "sleeper"}, [] { vole::sleep_for(10h); });
    until_dump_has("3 goroutines");
    until_dump_has("waiting, sleep");
  });
  say("after run\n");
  return status;
}
int leaks_nothing() {
  return vole::run([] { vole::spawn([] {}).join(); });
}

// ── who waits for whom ──
int two_mutexes() {
  static vole::mutex a, b;
  static std::atomic<int> there{0};
  return vole::run([] {
    const auto both = [](vole::mutex& first, vole::mutex& second) {
      const std::lock_guard hold(first);
      ++there;
      while (there != 2) vole::yield();
      const std::lock_guard too(second);
    };
    vole::go({.name = "ab"}, [both] { both(a, b); });
    vole::go({.name = "ba"}, [both] { both(b, a); });
    vole::chan<int>().recv();
    return kAlive;
  });
}
// The same on the heap, and locked in a function that has returned.
[[gnu::noinline]] void just_lock(vole::mutex& m) { m.lock(); }
int two_heap_mutexes() {
  static std::unique_ptr<vole::mutex> a, b;
  static vole::wait_group there;
  return vole::run([] {
    a = std::make_unique<vole::mutex>();
    b = std::make_unique<vole::mutex>();
    there.add(2);
    const auto both = [](vole::mutex& first, vole::mutex& second) {
      just_lock(first);
      there.done();
      there.wait();
      just_lock(second);
    };
    vole::go({.name = "ab"}, [both] { both(*a, *b); });
    vole::go({.name = "ba"}, [both] { both(*b, *a); });
    vole::chan<int>().recv();
    return kAlive;
  });
}
// After it has become its P's own, by being locked often.
int locked_twice() {
  return vole::run([] {
    static vole::mutex m;
    for (int i = 0; i < 100'000; ++i) {
      m.lock();
      m.unlock();
    }
    vole::go({.name = "twice"}, [] {
      m.lock();
      m.lock();
    });
    vole::chan<int>().recv();
    return kAlive;
  });
}
int written_twice() {
  return vole::run([] {
    vole::shared_mutex m;
    m.lock();
    m.lock_shared();
    return kAlive;
  });
}
int locked_by_a_thread() {
  return vole::run([] {
    static vole::mutex m;
    vole::blocking([] { std::thread([] { m.lock(); }).join(); });
    m.lock();
    return kAlive;
  });
}
int joins_and_selects() {
  return vole::run([] {
    vole::chan<int> a, b;
    auto task = vole::spawn([a, b] {
      vole::select(vole::on_recv(a, [](auto) {}), vole::on_recv(b, [](auto) {}));
    });
    task.join();
    return kAlive;
  });
}
int join_under_a_lock() {
  return vole::run([] {
    vole::mutex m;
    const std::lock_guard hold(m);
    auto task = vole::spawn([&m] { const std::lock_guard too(m); });
    task.join();
    return kAlive;
  });
}
int group_under_a_lock() {
  return vole::run([] {
    vole::mutex m;
    vole::wait_group all;
    const std::lock_guard hold(m);
    all.go([&m] { const std::lock_guard too(m); });
    all.wait();
    return kAlive;
  });
}
// Nobody waits in a circle: the lock's holder waits for a value.
int no_circle() {
  return vole::run([] {
    vole::mutex m;
    const std::lock_guard hold(m);
    vole::go([&m] { const std::lock_guard too(m); });
    vole::chan<int>().recv();
    return kAlive;
  });
}

constexpr scenario kAll[] = {
    {"stalls", stalls},
    {"sigquit", sigquit},
    {"sigquit_by_call", sigquit_by_call},
    {"sigquit_and_deadlock", sigquit_and_deadlock},
    {"leaks", leaks},
    {"leaks_nothing", leaks_nothing},
    {"two_mutexes", two_mutexes},
    {"two_heap_mutexes", two_heap_mutexes},
    {"locked_twice", locked_twice},
    {"written_twice", written_twice},
    {"locked_by_a_thread", locked_by_a_thread},
    {"joins_and_selects", joins_and_selects},
    {"join_under_a_lock", join_under_a_lock},
    {"group_under_a_lock", group_under_a_lock},
    {"no_circle", no_circle},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
