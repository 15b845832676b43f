// The benchmarks in which goroutines wait for each other: channels, select, a mutex.
// The same work as bench/go/main.go.

#include "bench.h"

#include <vole/vole.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

namespace bench {

long rss_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  return 0;
}

namespace {

int spawn_seq(int n) {
  const vole::chan<> c;
  const stopwatch watch;
  for (int i = 0; i < n; ++i) {
    vole::go([c] { c.send(); });
    c.recv();
  }
  report("spawn_seq", watch.ns() / n, "ns/op");
  return 0;
}

int pingpong(int n) {
  const vole::chan<int> a, b;
  vole::go([a, b] {
    for (const int v : a) b.send(v);
    b.close();
  });
  const stopwatch watch;
  for (int i = 0; i < n; ++i) {
    a.send(i);
    b.recv();
  }
  report("pingpong", watch.ns() / n, "ns/roundtrip");
  a.close();
  return 0;
}

int chan_spsc(int n) {
  const vole::chan<int> c(128);
  const stopwatch watch;
  vole::go([c, n] {
    for (int i = 0; i < n; ++i) c.send(i);
    c.close();
  });
  long sum = 0;
  for (const int v : c) sum += v;
  report("chan_spsc", watch.ns() / n, "ns/msg");
  return sum == static_cast<long>(n) * (n - 1) / 2 ? 0 : 1;
}

int chan_mpmc(int n) {
  constexpr int kEach = 8;
  const vole::chan<int> c(128);
  vole::wait_group producers, consumers;
  std::atomic<long> sum{0};
  const stopwatch watch;
  producers.add(kEach);
  consumers.add(kEach);
  for (int k = 0; k < kEach; ++k) {
    vole::go([&producers, c, n] {
      for (int i = 0; i < n / kEach; ++i) c.send(i);
      producers.done();
    });
    vole::go([&consumers, &sum, c] {
      long s = 0;
      for (const int v : c) s += v;
      sum += s;
      consumers.done();
    });
  }
  producers.wait();
  c.close();
  consumers.wait();
  report("chan_mpmc", watch.ns() / n, "ns/msg");
  const long m = n / kEach;
  return sum == kEach * (m * (m - 1) / 2) ? 0 : 1;
}

int select4(int n) {
  constexpr int kSenders = 4;
  std::vector<vole::chan<int>> cs(kSenders);
  for (vole::chan<int>& c : cs) {
    c = vole::chan<int>();
    vole::go([c, n] {
      for (int i = 0; i < n / kSenders; ++i) c.send(i);
    });
  }
  const stopwatch watch;
  for (int i = 0; i < n / kSenders * kSenders; ++i)
    vole::select(vole::on_recv(cs[0]), vole::on_recv(cs[1]), vole::on_recv(cs[2]),
                 vole::on_recv(cs[3]));
  report("select4", watch.ns() / n, "ns/op");
  return 0;
}

int mutex64(int n) {
  constexpr int kGoroutines = 64;
  vole::mutex mutex;
  long x = 0;
  vole::wait_group wg;
  wg.add(kGoroutines);
  const stopwatch watch;
  for (int k = 0; k < kGoroutines; ++k)
    vole::go([&] {
      for (int i = 0; i < n / kGoroutines; ++i) {
        const std::lock_guard hold(mutex);
        ++x;
      }
      wg.done();
    });
  wg.wait();
  report("mutex64", watch.ns() / n, "ns/op");
  return x == n / kGoroutines * kGoroutines ? 0 : 1;
}

void skynet_node(const vole::chan<long>& c, long num, long size) {
  constexpr long kWays = 10;
  if (size == 1) return c.send(num);
  const vole::chan<long> rc;
  for (long i = 0; i < kWays; ++i)
    vole::go([rc, from = num + i * (size / kWays), size] { skynet_node(rc, from, size / kWays); });
  long sum = 0;
  for (long i = 0; i < kWays; ++i) sum += *rc.recv();
  c.send(sum);
}

int skynet(int n) {
  const stopwatch watch;
  const vole::chan<long> c;
  vole::go([c, n] { skynet_node(c, 0, n); });
  const long r = *c.recv();
  report("skynet", watch.ms(), "ms");
  std::printf("skynet_rss %ld KB\n", rss_kb());
  return n != 1'000'000 || r == 499999500000 ? 0 : 1;
}

int sieve(int n) {
  const stopwatch watch;
  vole::chan<int> ch;
  vole::go([ch] {
    for (int i = 2;; ++i) ch.send(i);
  });
  for (int i = 0; i < n; ++i) {
    const int prime = *ch.recv();
    const vole::chan<int> next;
    vole::go([in = ch, next, prime] {
      for (;;) {
        const int v = *in.recv();
        if (v % prime != 0) next.send(v);
      }
    });
    ch = next;
  }
  report("sieve", watch.ms(), "ms");
  return 0;
}

int parked(int n) {
  const vole::chan<> c;
  const long before = rss_kb();
  vole::wait_group started, done;
  const stopwatch watch;
  started.add(n);
  done.add(n);
  for (int i = 0; i < n; ++i)
    vole::go([&] {
      started.done();
      c.recv();
      done.done();
    });
  started.wait();
  const double spawn = watch.ns() / n;
  report("parked_bytes", static_cast<double>(rss_kb() - before) * 1024 / n, "B/goroutine");
  report("parked_spawn", spawn, "ns/goroutine");
  const stopwatch wake;
  c.close();
  done.wait();
  report("parked_wakeall", wake.ns() / n, "ns/goroutine");
  return 0;
}

constexpr benchmark kWaiting[] = {
    {"spawn_seq", spawn_seq, 1'000'000}, {"pingpong", pingpong, 1'000'000},
    {"chan_spsc", chan_spsc, 5'000'000}, {"chan_mpmc", chan_mpmc, 4'000'000},
    {"select4", select4, 1'000'000},     {"mutex64", mutex64, 6'400'000},
    {"skynet", skynet, 1'000'000},       {"sieve", sieve, 1000},
    {"parked", parked, 1'000'000},
};

}  // namespace

std::span<const benchmark> waiting() { return kWaiting; }

}  // namespace bench
