// The tour: what vole does today, in a few seconds. `make run` builds and starts it.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

#if defined(VOLE_SANITIZE_ADDRESS) || defined(VOLE_SANITIZE_THREAD)
constexpr int kMany = 20'000, kTurns = 2'000;  // a sanitizer makes everything dear
#else
constexpr int kMany = 1'000'000, kTurns = 100'000;
#endif

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void must(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "tour: this is not so: %s\n", what);
  std::exit(1);
}

void many() {
  std::printf("1. Goroutines are cheap. Starting %d, waiting for all of them:\n", kMany);
  std::atomic<int> ran{0};
  vole::wait_group all;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kMany; ++i) all.go([&] { ran.fetch_add(1, std::memory_order_relaxed); });
  all.wait();
  const double ms = ms_since(start);
  must(ran == kMany, "every goroutine ran exactly once");
  std::printf("   %.0f ms, %.0f ns each\n\n", ms, ms * 1e6 / kMany);
}

void turns() {
  std::printf("2. Goroutines take turns. Two of them yield %d times each:\n", kTurns);
  vole::wait_group both;
  const auto start = std::chrono::steady_clock::now();
  for (int g = 0; g < 2; ++g)
    both.go([] {
      for (int i = 0; i < kTurns; ++i) vole::yield();
    });
  both.wait();
  std::printf("   %.0f ns a yield\n\n", ms_since(start) * 1e6 / (2.0 * kTurns));
}

int fib(int n) {
  if (n < 2) return n;
  auto left = vole::spawn(fib, n - 1);
  const int right = fib(n - 2);
  return left.join() + right;
}

void results() {
  std::printf("3. spawn() gives a handle; join() brings the result, or the exception:\n");
  const int sixteenth = fib(16);
  must(sixteenth == 987, "fib(16) == 987");
  std::printf("   fib(16) = %d, a goroutine for every call of fib(n - 1)\n", sixteenth);
  auto bad = vole::spawn([]() -> int { throw std::runtime_error("no such burrow"); });
  try {
    bad.join();
    must(false, "join() throws");
  } catch (const std::runtime_error& e) {
    std::printf("   caught what another goroutine threw: %s\n\n", e.what());
  }
}

void channels() {
  std::printf("4. Channels carry values; a select takes whichever is ready:\n");
  const vole::chan<int> odd, even(4);
  vole::go([=] {
    for (int i = 1; i < 100; i += 2) odd.send(i);
    odd.close();
  });
  vole::go([=] {
    for (int i = 0; i < 100; i += 2) even.send(i);
    even.close();
  });
  int sum = 0;
  vole::recv_chan<int> open[] = {odd, even};
  while (open[0] != nullptr || open[1] != nullptr) {
    std::optional<int> got;
    const std::size_t which = vole::select(vole::on_recv(open[0], got), vole::on_recv(open[1], got));
    if (got) {
      sum += *got;
    } else {
      open[which] = nullptr;  // closed and drained; a nil channel is never ready
    }
  }
  must(sum == 4950, "every value arrived once");
  std::printf("   the numbers below 100 from two goroutines add up to %d\n\n", sum);
}

// std::thread::join blocks this goroutine's thread and its P with it, so it comes last: by then
// nothing is left that would need the P.
void threads() {
  std::printf("5. Any std::thread may take part. Three of them start 1000 goroutines each:\n");
  vole::wait_group started, done;
  std::atomic<int> ran{0};
  started.add(3);
  std::vector<std::thread> plain;
  for (int t = 0; t < 3; ++t)
    plain.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) done.go([&] { ran.fetch_add(1); });
      started.done();
    });
  started.wait();
  done.wait();
  for (std::thread& t : plain) t.join();
  must(ran == 3000, "goroutines started by threads all ran");
  std::printf("   %d ran\n\n", ran.load());
}

void look_inside() {
  using count = unsigned long long;
  const vole::runtime_stats s = vole::stats();
  std::printf("6. Look inside. What the runtime has counted:\n"
              "   Ps: %d; threads that run goroutines: %d\n"
              "   goroutines started: %llu, finished: %llu\n"
              "   switches: %llu, steals: %llu, full queues spilled: %llu\n"
              "   stacks in use: %zu, kept warm: %zu\n\n",
              s.procs, s.threads, count{s.spawned}, count{s.finished}, count{s.switches},
              count{s.steals}, count{s.overflows}, s.stacks_in_use, s.stacks_free);

  std::printf("7. Every goroutine: what it waits for, what it runs, who made it. (main is the one\n"
              "   that asks; the dump took its P like all the others, hence \"evicted\".)\n\n");
  vole::wait_group there, gate, gone;
  gate.add(1);
  for (const char* name : {"digger", "sentry"}) {
    there.add(1);
    gone.add(1);
    vole::go({.name = name}, [&] {
      there.done();
      gate.wait();
      gone.done();
    });
  }
  there.wait();
  for (int i = 0; i < 100; ++i) vole::yield();  // most likely they wait by now
  vole::dump_goroutines(stdout);
  gate.done();
  gone.wait();
}

}  // namespace

int main() {
  std::printf("vole: goroutines for C++\n\n");
  const int status = vole::run([] {
    many();
    turns();
    results();
    channels();
    threads();
    look_inside();
    return 0;
  });
  std::printf("The end: main's goroutine has returned, and the runtime is gone.\n");
  return status;
}
