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
#include <cstdio>
#include <string>
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

// How late one is that sleeps for a millisecond, in us, sorted; as often as `again` says.
template <class Again>
std::vector<double> nap_while(Again again) {
  std::vector<double> late;
  while (again(late.size())) {
    const stopwatch watch;
    vole::sleep_for(milliseconds(1));
    late.push_back(watch.ns() / 1e3 - 1000);
  }
  std::sort(late.begin(), late.end());
  return late;
}

void report_late(const std::string& name, const std::vector<double>& late) {
  report((name + "_p50").c_str(), percentile(late, .5), "us");
  report((name + "_p99").c_str(), percentile(late, .99), "us");
  report((name + "_max").c_str(), percentile(late, 1), "us");
}

// One endless loop per P; a sleeper wants to run every millisecond.
int preempt(int n) {
  static std::atomic<int> stop{0};
  for (int i = vole::max_procs(); i > 0; --i) vole::go([] { hog(stop); });
  const auto late = nap_while([n](std::size_t done) { return done < static_cast<std::size_t>(n); });
  stop = 1;
  report_late("preempt", late);
  return 0;
}

// The same with nobody else.
int nap(int n) {
  report_late("nap", nap_while([n](std::size_t done) { return done < static_cast<std::size_t>(n); }));
  return 0;
}

// n endless loops for 5 s, and the sleeper: what the most served got over what the least did.
int hogs(int n) {
  struct alignas(64) tally {
    std::atomic<std::uint64_t> turns{0};
  };
  static std::vector<tally> tallies(static_cast<std::size_t>(n));
  for (tally& t : tallies)
    vole::go([&t] {
      std::uint64_t x = 1;
      for (;;) {
        for (int k = 0; k < 1000; ++k) {
          x = x * 6364136223846793005u + 1;
          asm volatile("" : "+r"(x));
        }
        t.turns.store(t.turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      }
    });
  const stopwatch watch;
  const auto late = nap_while([&watch](std::size_t) { return watch.ms() < 5000; });
  std::uint64_t most = 0, least = UINT64_MAX;
  for (const tally& t : tallies) {
    const std::uint64_t turns = t.turns.load(std::memory_order_relaxed);
    most = std::max(most, turns);
    least = std::min(least, turns);
  }
  report("hogs_most_over_least", static_cast<double>(most) / static_cast<double>(least), "");
  report_late("hogs_late", late);
  std::fflush(stdout);
  _exit(0);  // they do not end
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
    {"nap", nap, 1000},
    {"hogs", hogs, 16},
    {"syscall", syscall_cost, 5'000'000},
    {"handoff", handoff, 200},
    {"sleepers", sleepers, 200'000},
};

}  // namespace

std::span<const benchmark> threads() { return kThreads; }

}  // namespace bench
