// What bench/curves.py asks beside the names of bench/README.md: the same cost at every size.
// N is the size, and the work is repeated until there is enough of it to be timed.
//
// Note   a first round is not timed, so that no size pays for the kernel's first pages; what
//        memory a goroutine takes is seen in that round.

#include "bench.h"

#include <vole/vole.h>

#include <algorithm>
#include <atomic>

namespace bench {
namespace {

struct crowd_cost {
  double spawn_ns, wake_ns, bytes;  // for one goroutine
};

// n goroutines are started, park on one channel, and are woken by its close.
crowd_cost crowd_round(int n) {
  const vole::chan<> c;
  vole::wait_group started, done;
  const long before = rss_kb();
  const stopwatch watch;
  started.add(n);
  done.add(n);
  for (int i = 0; i < n; ++i)
    vole::go([&started, &done, c] {
      started.done();
      c.recv();
      done.done();
    });
  started.wait();
  const double spawn = watch.ns();
  const double bytes = static_cast<double>(rss_kb() - before) * 1024;
  const stopwatch wake;
  c.close();
  done.wait();
  return {spawn / n, wake.ns() / n, bytes / n};
}

int crowd(int n) {
  constexpr int kEnough = 200'000;
  const int rounds = std::max(1, kEnough / n);
  const double bytes = crowd_round(n).bytes;
  crowd_cost sum{};
  for (int i = 0; i < rounds; ++i) {
    const crowd_cost one = crowd_round(n);
    sum.spawn_ns += one.spawn_ns;
    sum.wake_ns += one.wake_ns;
  }
  report("crowd_spawn", sum.spawn_ns / rounds, "ns/goroutine");
  report("crowd_wake", sum.wake_ns / rounds, "ns/goroutine");
  report("crowd_bytes", bytes, "B/goroutine");
  return 0;
}

// n goroutines yield. All are woken together and yield, untimed, until the last of them is awake.
int yield_among(int n) {
  constexpr int kEnough = 2'000'000, kLeast = 10;
  const int turns = std::max(kLeast, kEnough / n);
  const vole::chan<> begin;
  vole::wait_group started, awake, done;
  std::atomic<bool> timed{false};
  for (vole::wait_group* wg : {&started, &awake, &done}) wg->add(n);
  for (int k = 0; k < n; ++k)
    vole::go([&, begin] {
      started.done();
      begin.recv();
      awake.done();
      while (!timed.load(std::memory_order_relaxed)) vole::yield();
      for (int i = 0; i < turns; ++i) vole::yield();
      done.done();
    });
  started.wait();
  begin.close();
  awake.wait();
  const stopwatch watch;
  timed.store(true, std::memory_order_relaxed);
  done.wait();
  report("yield_among", watch.ns() / (static_cast<double>(n) * turns), "ns/op");
  return 0;
}

// One sends; n wait on the same channel, each for its turn.
int waiters(int n) {
  constexpr int kMessages = 500'000;
  const vole::chan<int> c;
  vole::wait_group started, done;
  std::atomic<long> sum{0};
  started.add(n);
  done.add(n);
  for (int k = 0; k < n; ++k)
    vole::go([&started, &done, &sum, c] {
      started.done();
      long mine = 0;
      for (const int v : c) mine += v;
      sum += mine;
      done.done();
    });
  started.wait();
  const stopwatch watch;
  for (int i = 0; i < kMessages; ++i) c.send(i);
  report("waiters", watch.ns() / kMessages, "ns/msg");
  c.close();
  done.wait();
  return sum == static_cast<long>(kMessages) * (kMessages - 1) / 2 ? 0 : 1;
}

constexpr benchmark kGrowth[] = {
    {"crowd", crowd, 1000},
    {"yield_among", yield_among, 1000},
    {"waiters", waiters, 10},
};

}  // namespace

std::span<const benchmark> growth() { return kGrowth; }

}  // namespace bench
