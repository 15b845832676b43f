// The work of bench/README.md on Boost.Fiber: `boost_fiber_bench NAME [N]` prints
// "NAME value unit".
//
// Scheduler, by the environment variable BOOST_FIBER_SCHED:
//   stealing  (default) work_stealing, a thread per core, idle threads suspend
//   spinning  the same, idle threads spin
//   single    round_robin on one thread
//
// Idioms, each the fastest found that finishes with bounded memory:
// - launch::dispatch: the new fiber runs at once and its starter queues behind it. With
//   launch::post a million fibers are alive together, some 7 KB each, and spawn_join takes
//   over 6,000 ns/op (page faults) instead of under 300.
// - fixedsize_stack of 16 KiB, from malloc: no guard page and so no mapping per stack
//   (protected_fixedsize_stack meets vm.max_map_count near 32,000 fibers), and deep enough
//   for fib (8 KiB is not). pooled_fixedsize_stack gains under 5% in spawn_join,
//   loses in fib, and its pool takes no lock: one thread only.
// - fib joins the fiber; elsewhere fibers are detached and counted by a wait_group.
#include "bench.h"

#include <boost/fiber/algo/round_robin.hpp>
#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/operations.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace bench {
namespace {

int spawn_join(long n) {
  const stopwatch watch;
  wait_group wg(n);
  for (long i = 0; i < n; ++i) start([&wg] { wg.done(); }).detach();
  wg.wait();
  report("spawn_join", watch.ns() / static_cast<double>(n), "ns/op");
  return 0;
}

double yields(long n, long count) {
  const stopwatch watch;
  wait_group wg(count);
  for (long k = 0; k < count; ++k)
    start([&wg, turns = n / count] {
      for (long i = 0; i < turns; ++i) boost::this_fiber::yield();
      wg.done();
    }).detach();
  wg.wait();
  return watch.ns() / static_cast<double>(n);
}

int yield2(long n) {
  report("yield", yields(n, 2), "ns/op");
  return 0;
}

int yield1k(long n) {
  report("yield1k", yields(n, 1000), "ns/op");
  return 0;
}

long fib_of(long n) {
  if (n < 2) return n;
  long a = 0;
  fibers::fiber child = start([&a, n] { a = fib_of(n - 1); });
  const long b = fib_of(n - 2);
  child.join();
  return a + b;
}

int fib(long n) {
  const stopwatch watch;
  const long r = fib_of(n);
  report("fib", watch.ms(), "ms");
  if (n != 27 || r == 196418) return 0;
  std::fprintf(stderr, "boost_fiber_bench: fib(27) gave %ld\n", r);
  return 1;
}

constexpr benchmark kRunning[] = {
    {"spawn_join", spawn_join, 1'000'000},
    {"yield", yield2, 5'000'000},
    {"yield1k", yield1k, 5'000'000},
    {"fib", fib, 27},
};

int run_single(const benchmark& b, long n) {
  fibers::use_scheduling_algorithm<fibers::algo::round_robin>();
  return b.run(n);
}

// The other threads only lend their schedulers: each waits in a fiber condition until the end.
int run_stealing(const benchmark& b, long n, bool suspend) {
  const unsigned count = std::thread::hardware_concurrency();
  wait_group end(1);
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < count; ++i)
    threads.emplace_back([&end, count, suspend] {
      fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(count, suspend);
      end.wait();
    });
  fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(count, suspend);
  const int status = b.run(n);
  end.done();
  for (std::thread& t : threads) t.join();
  return status;
}

int usage(const char* complaint, const char* word) {
  std::fprintf(stderr,
               "boost_fiber_bench: %s%s\nusage: boost_fiber_bench NAME [N]; names:", complaint,
               word);
  for (const auto table : {running(), waiting()})
    for (const benchmark& b : table) std::fprintf(stderr, " %s", b.name.data());
  std::fputc('\n', stderr);
  return 2;
}

}  // namespace

std::span<const benchmark> running() { return kRunning; }

}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  const char* chosen = std::getenv("BOOST_FIBER_SCHED");
  const std::string_view sched = chosen ? chosen : "stealing";
  if (sched != "stealing" && sched != "spinning" && sched != "single")
    return usage("bad BOOST_FIBER_SCHED: ", chosen);
  if (argc < 2) return usage("no name", "");
  const benchmark* wanted = nullptr;
  for (const auto table : {running(), waiting()})
    for (const benchmark& b : table)
      if (b.name == argv[1]) wanted = &b;
  if (wanted == nullptr) return usage("unknown name: ", argv[1]);
  long n = wanted->default_n;
  if (argc > 2) {
    const std::string_view word = argv[2];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || end != word.data() + word.size() || n < 1)
      return usage("bad N: ", argv[2]);
  }
  return sched == "single" ? run_single(*wanted, n) : run_stealing(*wanted, n, sched == "stealing");
}
