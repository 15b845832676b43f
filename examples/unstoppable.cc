// Code that does not yield does not stop the others: two workers get something that keeps
// them busy for half a second, an endless loop or a read() that blocks; then comes a
// small task every 10 ms. How late does it run on a pool of two threads, and how late
// on two Ps of vole, which are taken from threads that do not give them back?

#include <vole/vole.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr int kWorkers = 2, kTasks = 20;
constexpr auto kBusy = 500ms, kEvery = 10ms;

// The usual thread pool.
class pool {
 public:
  pool() {
    for (int i = 0; i < kWorkers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~pool() {
    submit(nullptr);  // the last task: stays in the queue, and ends them all
    for (std::thread& t : threads_) t.join();
  }
  void submit(std::function<void()> task) {
    const std::lock_guard hold(mutex_);
    tasks_.push_back(std::move(task));
    there_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock hold(mutex_);
      there_.wait(hold, [this] { return !tasks_.empty(); });
      if (tasks_.front() == nullptr) return there_.notify_all();
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      hold.unlock();
      task();
    }
  }
  std::mutex mutex_;
  std::condition_variable there_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
};

void endless_loop() {
  for (const auto end = clock_type::now() + kBusy; clock_type::now() < end;) {
  }
}

// A library's call that knows nothing of vole: it waits in the kernel for half a second.
void blocking_read() {
  int ends[2];
  if (pipe(ends) != 0) return;
  std::thread other([&] {
    std::this_thread::sleep_for(kBusy);
    if (write(ends[1], "x", 1) != 1) std::perror("write");
  });
  char c;
  if (read(ends[0], &c, 1) != 1) std::perror("read");
  other.join();
  close(ends[0]);
  close(ends[1]);
}

using times = std::array<double, kTasks>;  // how late each task ran, in ms

// Both runs in the same words: start(task) starts one, wait(t) lets time pass until then.
template <class Start, class Wait>
void offer(void (*busy)(), times& late, Start start, Wait wait) {
  for (int i = 0; i < kWorkers; ++i) start(busy);
  auto due = clock_type::now();
  for (double& each : late) {
    wait(due += kEvery);
    start([&each, due] {
      each = std::chrono::duration<double, std::milli>(clock_type::now() - due).count();
    });
  }
}

times on_pool(void (*busy)()) {
  times late{};
  pool p;
  offer(
      busy, late, [&](auto task) { p.submit(task); },
      [](auto due) { std::this_thread::sleep_until(due); });
  return late;  // after the pool has done everything
}

times on_vole(void (*busy)()) {
  times late{};
  vole::set_max_procs(kWorkers);
  vole::run([&] {
    vole::wait_group all;
    offer(
        busy, late, [&](auto task) { all.go(task); }, [](auto due) { vole::sleep_until(due); });
    all.wait();
  });
  return late;
}

void tell(const char* where, times late) {
  std::sort(late.begin(), late.end());
  std::printf("  %-22s late by %6.1f ms (median), %6.1f ms (most)\n", where, late[kTasks / 2],
              late[kTasks - 1]);
}

void compare(const char* what, void (*busy)()) {
  std::printf("two workers, each in %s; a task every 10 ms is\n", what);
  tell("on a pool of threads", on_pool(busy));
  tell("on vole", on_vole(busy));
}

}  // namespace

int main() {
  compare("an endless loop", endless_loop);
  compare("a read() that blocks", blocking_read);
}
