// Code that does not yield does not stop the others: two workers get something that keeps them busy
// for half a second, an endless loop or a call that blocks; then comes a small task every 10 ms. How
// late does it run on a pool of two threads, and how late on two Ps of vole?

#include <vole/vole.h>

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

namespace {
using namespace std::chrono_literals;
constexpr int kWorkers = 2;
constexpr auto kBusy = 500ms, kEvery = 10ms;

void endless_loop() {
  for (const auto end = vole::now() + kBusy; std::chrono::steady_clock::now() < end;) continue;
}
// As in a library that knows nothing of vole: the thread waits in the kernel.
void blocking_call() { ::poll(nullptr, 0, kBusy / 1ms); }

using ms = std::chrono::duration<double, std::milli>;
using times = std::vector<ms>;  // how late each task ran

// start(task) starts one. vole's sleep parks a goroutine, and lets a plain thread sleep.
template <class Start>
void offer(void (*busy)(), times& late, Start start) {
  for (int i = 0; i < kWorkers; ++i) start(busy);
  auto due = vole::now();
  for (ms& each : late) {
    vole::sleep_until(due += kEvery);
    start([&each, due] { each = vole::now() - due; });
  }
}

times on_pool(void (*busy)()) {
  times late(20);
  vole::chan<std::function<void()>> tasks(64);  // plain threads may use a channel, too
  std::vector<std::thread> threads;
  for (int i = 0; i < kWorkers; ++i)
    threads.emplace_back([tasks] {
      for (const auto& task : tasks) task();
    });
  offer(busy, late, [&](auto task) { tasks.send(task); });
  tasks.close();
  for (std::thread& t : threads) t.join();  // when they have done everything
  return late;
}

times on_vole(void (*busy)()) {
  times late(20);
  vole::set_max_procs(kWorkers);
  vole::run([&] {
    vole::wait_group all;
    offer(busy, late, [&](auto task) { all.go(task); });
    all.wait();
  });
  return late;
}

void compare(const char* what, void (*busy)()) {
  std::printf("two workers, each in %s; a task every 10 ms is\n", what);
  const auto tell = [](const char* on, times late) {
    std::sort(late.begin(), late.end());
    std::printf("  on %-19s late by %6.1f ms (median), %6.1f ms (most)\n", on, late[9].count(),
                late[19].count());
  };
  tell("a pool of threads", on_pool(busy));
  tell("vole", on_vole(busy));
}
}  // namespace
int main() {
  compare("an endless loop", endless_loop);
  compare("a call that blocks", blocking_call);
}
