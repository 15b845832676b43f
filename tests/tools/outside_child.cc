// Programs that are looked at from outside: outside_child SCENARIO. Each prints READY when what it
// is to show is there, and stays so until it is killed.
#include <vole/vole.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

using namespace std::chrono_literals;

namespace app {

vole::chan<int> empty, full(1);
vole::mutex held;
vole::shared_mutex written;
vole::semaphore none(0);
vole::wait_group open_group;
vole::condition_variable never;
std::atomic<int> spinning{0};

// Each ends with something behind the call, so that the call is none in a tail.
std::atomic<int> behind{0};

[[gnu::noinline]] void receive() { (void)empty.recv(), behind++; }
[[gnu::noinline]] void send() { full.send(2), behind++; }
[[gnu::noinline]] void lock() { held.lock(), behind++; }
[[gnu::noinline]] void lock_shared() { written.lock_shared(), behind++; }
[[gnu::noinline]] void lock_exclusive() { written.lock(), behind++; }
[[gnu::noinline]] void acquire() { none.acquire(), behind++; }
[[gnu::noinline]] void wait_for_group() { open_group.wait(), behind++; }
[[gnu::noinline]] void wait_on_condition() {
  vole::mutex m;
  std::unique_lock hold(m);
  never.wait(hold), behind++;
}
[[gnu::noinline]] void doze() { vole::sleep_for(10h), behind++; }
[[gnu::noinline]] void receive_from_nil() { (void)vole::chan<int>(nullptr).recv(), behind++; }
[[gnu::noinline]] void choose() {
  vole::select(vole::on_recv(empty, [](auto) {}), vole::on_recv(vole::after(10h), [](auto) {}));
  behind++;
}
[[gnu::noinline]] int deep(int n) { return n == 0 ? (receive(), 1) : deep(n - 1) + behind.load(); }
[[gnu::noinline]] void spin() {
  ++spinning;
  for (;;) behind.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace app

namespace {

void say_ready() {
  std::puts("READY");
  std::fflush(stdout);
}

// From a plain thread, when all but the given number wait.
void wait_until_parked(std::size_t goroutines) {
  for (;;) {
    std::size_t waiting = 0;
    for (const auto& g : vole::goroutines()) waiting += g.status == "waiting" ? 1u : 0u;
    if (waiting == goroutines) return;
    std::this_thread::sleep_for(1ms);
  }
}

template <class Fn>
int with_reporter(std::size_t goroutines, Fn&& start) {
  vole::run([&] {
    app::open_group.add(1);
    start();
    std::thread([goroutines] {
      wait_until_parked(goroutines);
      const bool is_json = std::getenv("OUTSIDE_JSON") != nullptr;
      vole::dump_goroutines(stdout, is_json ? vole::dump_format::json : vole::dump_format::text);
      say_ready();
    }).detach();
    vole::go({.name = "keeps it awake"}, [] { app::doze(); });
    app::wait_for_group();
  });
  return 0;
}

int parked() {
  app::full.send(1);
  app::held.lock();
  app::written.lock();
  return with_reporter(16, [] {
    vole::go([] { app::receive(); });
    vole::go([] { app::receive(); });
    vole::go([] { app::send(); });
    vole::go({.name = "locker"}, [] { app::lock(); });
    vole::go([] { app::lock_shared(); });
    vole::go([] { app::lock_exclusive(); });
    vole::go([] { app::acquire(); });
    vole::go([] { app::wait_on_condition(); });
    vole::go([] { app::doze(); });
    vole::go(&app::receive_from_nil);
    vole::go([] { app::choose(); });
    vole::go([] { [] { app::receive(); }(), app::behind++; });
    vole::go([] { app::deep(20); });
    vole::go({.name = "very deep"}, [] { app::deep(300); });
  });
}

// A name that no reader should have to print as it is.
int named() {
  vole::run([] {
    static vole::mutex m;
    m.lock();
    vole::go({.name = "a\x1b[2J\n\xff\"\\\xc3\xbc"}, [] { app::receive(); });
    vole::go([] { m.lock(); });
    std::thread([] {
      wait_until_parked(3);
      vole::dump_goroutines(stdout, vole::dump_format::json);
      say_ready();
    }).detach();
    app::doze();
  });
  return 0;
}

int many() {
  return with_reporter(1002, [] {
    for (int i = 0; i < 1000; ++i) vole::go([] { app::receive(); });
  });
}

int spinning(int n) {
  vole::run([&] {
    for (int i = 0; i < n; ++i) vole::go({.name = "spin\x1b[2J"}, [] { app::spin(); });
    std::thread([n] {
      while (app::spinning.load() < n) std::this_thread::sleep_for(1ms);
      say_ready();
    }).detach();
    app::doze();
  });
  return 0;
}

int deadlocked() {
  static vole::mutex first, second;
  return with_reporter(4, [] {
    static vole::wait_group both;
    both.add(2);
    const auto take = [](vole::mutex& a, vole::mutex& b) {
      a.lock();
      both.done();
      both.wait();
      b.lock();
    };
    vole::go([take] { take(first, second), app::behind++; });
    vole::go([take] { take(second, first), app::behind++; });
  });
}

int parked_without_end(int n) {
  vole::run([&] {
    for (int i = 0; i < n; ++i) vole::go([] { app::receive(); });
    say_ready();
    app::doze();
  });
  return 0;
}

// Dumps of itself with n parked: how long one takes, and the longest moment in which two goroutines
// that yield to each other could not: the world was stopped. bench/dumps.py reads it.
int timed(int n) {
  using clock = std::chrono::steady_clock;
  const auto ms = [](clock::duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
  };
  std::FILE* const out = std::fopen("/dev/null", "w");
  vole::run([&] {
    for (int i = 0; i < n; ++i) vole::go([] { app::spinning++, app::receive(); });
    while (app::spinning < n) vole::yield();
    for (int round = 0; round < 7; ++round) {
      std::atomic<bool> done{false};
      auto watch = vole::spawn([&] {
        clock::duration longest{};
        for (auto last = clock::now(); !done;) {
          vole::yield();
          const auto now = clock::now();
          longest = std::max(longest, now - last);
          last = now;
        }
        return longest;
      });
      vole::sleep_for(20ms);
      const auto began = clock::now();
      vole::dump_goroutines(out);
      const auto took = clock::now() - began;
      done = true;
      std::printf("%.1f %.1f\n", ms(took), ms(watch.join()));
    }
    say_ready();
    app::doze();
  });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const int n = argc > 2 ? std::atoi(argv[2]) : 2;
  if (what == "parked") return parked();
  if (what == "many") return many();
  if (what == "named") return named();
  if (what == "spinning") return spinning(n);
  if (what == "deadlocked") return deadlocked();
  if (what == "count") return parked_without_end(n);
  if (what == "timed") return timed(n);
  if (what == "plain") return say_ready(), std::this_thread::sleep_for(10h), 0;
  std::fprintf(stderr, "outside_child parked|many|spinning|deadlocked|count|plain [N]\n");
  return 2;
}
