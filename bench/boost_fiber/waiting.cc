// The benchmarks in which fibers wait for each other: channels, a mutex.
//
// What stands for what:
// - an unbuffered channel: unbuffered_channel. It is shared by pointer: push() looks at the
//   channel once more after its value was taken.
// - a buffered channel: buffered_channel(128). The capacity must be a power of two, and one
//   slot stays empty: it holds 127.
// - select: there is none; select4 is left out.
// - a mutex: fibers::mutex.
#include "bench.h"

#include <atomic>
#include <boost/fiber/buffered_channel.hpp>
#include <boost/fiber/mutex.hpp>
#include <boost/fiber/unbuffered_channel.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace bench {
namespace {

// For skynet and parked, whose fibers are all alive at once: the smallest stack that is safe.
// Of it 6.5 KB were seen in use with LD_BIND_NOW=1, which bench/run.py sets, and 7.8 KB
// without. With 16 KiB parked takes about a fifth more time.
constexpr std::size_t kSmallStack = 8 * 1024;

template <class T>
using shared_channel = std::shared_ptr<fibers::unbuffered_channel<T>>;

template <class T>
shared_channel<T> make_channel() {
  return std::make_shared<fibers::unbuffered_channel<T>>();
}

long rss_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  return 0;
}

int spawn_seq(long n) {
  const auto c = make_channel<char>();
  const stopwatch watch;
  for (long i = 0; i < n; ++i) {
    start([c] { c->push(0); }).detach();
    c->value_pop();
  }
  report("spawn_seq", watch.ns() / static_cast<double>(n), "ns/op");
  return 0;
}

int pingpong(long n) {
  fibers::unbuffered_channel<long> a, b;
  fibers::fiber echo = start([&a, &b] {
    for (const long v : a) b.push(v);
  });
  bool right = true;
  const stopwatch watch;
  for (long i = 0; i < n; ++i) {
    a.push(i);
    right &= b.value_pop() == i;
  }
  report("pingpong", watch.ns() / static_cast<double>(n), "ns/roundtrip");
  a.close();
  echo.join();
  return right ? 0 : 1;
}

int chan_spsc(long n) {
  fibers::buffered_channel<long> c(128);
  const stopwatch watch;
  fibers::fiber producer = start([&c, n] {
    for (long i = 0; i < n; ++i) c.push(i);
    c.close();
  });
  long sum = 0;
  for (const long v : c) sum += v;
  report("chan_spsc", watch.ns() / static_cast<double>(n), "ns/msg");
  producer.join();
  return sum == n * (n - 1) / 2 ? 0 : 1;
}

int chan_mpmc(long n) {
  constexpr long kEach = 8;
  fibers::buffered_channel<long> c(128);
  std::atomic<long> sum{0};
  const stopwatch watch;
  wait_group producers(kEach), consumers(kEach);
  for (long k = 0; k < kEach; ++k) {
    start([&producers, &c, n] {
      for (long i = 0; i < n / kEach; ++i) c.push(i);
      producers.done();
    }).detach();
    start([&consumers, &sum, &c] {
      long s = 0;
      for (const long v : c) s += v;
      sum += s;
      consumers.done();
    }).detach();
  }
  producers.wait();
  c.close();
  consumers.wait();
  report("chan_mpmc", watch.ns() / static_cast<double>(n), "ns/msg");
  const long m = n / kEach;
  return sum == kEach * (m * (m - 1) / 2) ? 0 : 1;
}

int mutex64(long n) {
  constexpr long kFibers = 64;
  fibers::mutex mutex;
  long x = 0;
  const stopwatch watch;
  wait_group wg(kFibers);
  for (long k = 0; k < kFibers; ++k)
    start([&] {
      for (long i = 0; i < n / kFibers; ++i) {
        const std::lock_guard hold(mutex);
        ++x;
      }
      wg.done();
    }).detach();
  wg.wait();
  report("mutex64", watch.ns() / static_cast<double>(n), "ns/op");
  return x == n / kFibers * kFibers ? 0 : 1;
}

void skynet_node(const shared_channel<long>& c, long num, long size) {
  constexpr long kWays = 10;
  long sum = num;
  if (size > 1) {
    sum = 0;
    const auto rc = make_channel<long>();
    for (long i = 0; i < kWays; ++i) {
      const long from = num + i * (size / kWays);
      start([rc, from, size] { skynet_node(rc, from, size / kWays); }, kSmallStack).detach();
    }
    for (long i = 0; i < kWays; ++i) sum += rc->value_pop();
  }
  c->push(sum);
}

int skynet(long n) {
  const stopwatch watch;
  const auto c = make_channel<long>();
  start([c, n] { skynet_node(c, 0, n); }, kSmallStack).detach();
  const long r = c->value_pop();
  report("skynet", watch.ms(), "ms");
  std::printf("skynet_rss %ld KB\n", rss_kb());
  return n != 1'000'000 || r == 499999500000 ? 0 : 1;
}

// Ends the program: its fibers have no end, and closing their channels may hang (a push()
// that meets a close() can wait for ever).
int sieve(long n) {
  const stopwatch watch;
  auto ch = make_channel<int>();
  start([ch] {
    for (int i = 2;; ++i) ch->push(i);
  }).detach();
  int prime = 0;
  for (long i = 0; i < n; ++i) {
    prime = ch->value_pop();
    auto next = make_channel<int>();
    start([in = std::move(ch), next, prime] {
      for (;;) {
        const int v = in->value_pop();
        if (v % prime != 0) next->push(v);
      }
    }).detach();
    ch = std::move(next);
  }
  report("sieve", watch.ms(), "ms");
  std::fflush(stdout);
  std::_Exit(n != 1000 || prime == 7919 ? 0 : 1);
}

int parked(long n) {
  fibers::unbuffered_channel<char> c;
  const long before = rss_kb();
  const stopwatch watch;
  wait_group started(n), done(n);
  for (long i = 0; i < n; ++i)
    start(
        [&started, &done, &c] {
          started.done();
          char v;
          c.pop(v);
          done.done();
        },
        kSmallStack)
        .detach();
  started.wait();
  const double spawn = watch.ns() / static_cast<double>(n);
  const double bytes = static_cast<double>(rss_kb() - before) * 1024 / static_cast<double>(n);
  report("parked_bytes", bytes, "B/goroutine");
  report("parked_spawn", spawn, "ns/goroutine");
  const stopwatch wake;
  c.close();
  done.wait();
  report("parked_wakeall", wake.ns() / static_cast<double>(n), "ns/goroutine");
  return 0;
}

constexpr benchmark kWaiting[] = {
    {"spawn_seq", spawn_seq, 1'000'000},
    {"pingpong", pingpong, 1'000'000},
    {"chan_spsc", chan_spsc, 5'000'000},
    {"chan_mpmc", chan_mpmc, 4'000'000},
    {"mutex64", mutex64, 6'400'000},
    {"skynet", skynet, 1'000'000},
    {"sieve", sieve, 1000},
    {"parked", parked, 1'000'000},
};

}  // namespace

std::span<const benchmark> waiting() { return kWaiting; }

}  // namespace bench
