// The benchmarks of what a P does while its thread computes, sleeps in the kernel, or waits for
// the clock. The same work as bench/go/main.go.
//
// Note   Go's syscall.Syscall is enter, call, leave; ours is vole::blocking around the raw call.

#include "bench.h"

#include <vole/vole.h>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace bench {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

double percentile(const std::vector<double>& sorted, double p) {
  return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * p)];
}

std::atomic<std::uint64_t> sink{0};

void hog(const std::atomic<int>& stop) {
  std::uint64_t x = 1;
  while (stop.load(std::memory_order_relaxed) == 0) {
    for (int k = 0; k < 1'000'000; ++k) {
      x = x * 6364136223846793005u + 1;
      asm volatile("" : "+r"(x));  // Go's compiler does not fold the loop either
    }
  }
  sink.store(x, std::memory_order_relaxed);
}

// One endless loop per P; a sleeper wants to run every millisecond.
int preempt(int n) {
  static std::atomic<int> stop{0};
  for (int i = vole::max_procs(); i > 0; --i) vole::go([] { hog(stop); });
  std::vector<double> late;
  for (int i = 0; i < n; ++i) {
    const stopwatch watch;
    vole::sleep_for(milliseconds(1));
    late.push_back(watch.ns() / 1e3 - 1000);
  }
  stop = 1;
  std::sort(late.begin(), late.end());
  report("preempt_p50", percentile(late, .5), "us");
  report("preempt_p99", percentile(late, .99), "us");
  report("preempt_max", percentile(late, 1), "us");
  return 0;
}

int syscall_cost(int n) {
  const stopwatch watch;
  for (int i = 0; i < n; ++i) vole::blocking([] { return ::syscall(SYS_getppid); });
  report("syscall", watch.ns() / n, "ns/op");
  return 0;
}

// 32 goroutines sleep in the kernel for a millisecond, n times each.
int handoff(int n) {
  constexpr int kGoroutines = 32;
  vole::wait_group wg;
  wg.add(kGoroutines);
  const stopwatch watch;
  for (int k = 0; k < kGoroutines; ++k)
    vole::go([&wg, n] {
      for (int i = 0; i < n; ++i)
        vole::blocking([] {
          const timespec t{0, 1'000'000};
          ::syscall(SYS_nanosleep, &t, nullptr);
        });
      wg.done();
    });
  wg.wait();
  report("handoff32", watch.ms(), "ms");
  return 0;
}

double cpu_ns() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

int sleepers(int n) {
  vole::wait_group wg;
  wg.add(n);
  const double cpu = cpu_ns();
  const stopwatch watch;
  std::atomic<std::int64_t> late{0};
  for (int i = 0; i < n; ++i)
    vole::go([&wg, &late, d = milliseconds(i % 1000)] {
      const clock::time_point begin = clock::now();
      vole::sleep_for(d);
      late += std::chrono::nanoseconds(clock::now() - begin - d).count();
      wg.done();
    });
  wg.wait();
  report("sleepers_wall", watch.ms(), "ms");
  report("sleepers_cpu", (cpu_ns() - cpu) / n, "ns/goroutine");
  report("sleepers_late", static_cast<double>(late) / n / 1000, "us");
  return 0;
}

constexpr benchmark kThreads[] = {
    {"preempt", preempt, 500},
    {"syscall", syscall_cost, 5'000'000},
    {"handoff", handoff, 200},
    {"sleepers", sleepers, 200'000},
};

}  // namespace

std::span<const benchmark> threads() { return kThreads; }

}  // namespace bench
