// The work of bench/README.md on vole: `vole_bench NAME [N]` prints "NAME value unit".
//
// Law    the same work as bench/go/main.go, line for line where C++ allows it; the clock
//        runs inside vole::run, so starting and stopping the runtime is not counted.
// Exit   0; 1: a wrong result; 2: an unknown NAME or a bad N.
#include "bench.h"
#include "serving.h"

#include <vole/vole.h>

#include <charconv>
#include <cstdio>
#include <string_view>
#include <system_error>

namespace bench {
namespace {

// Every benchmark takes N and returns the program's exit status.

int spawn_join(int n) {
  vole::wait_group wg;
  const stopwatch watch;
  wg.add(n);
  for (int i = 0; i < n; ++i) vole::go([&wg] { wg.done(); });
  wg.wait();
  report("spawn_join", watch.ns() / n, "ns/op");
  return 0;
}

// `goroutines` of them yield n times in all.
double yields(int n, int goroutines) {
  vole::wait_group wg;
  const stopwatch watch;
  wg.add(goroutines);
  for (int k = 0; k < goroutines; ++k)
    vole::go([&wg, turns = n / goroutines] {
      for (int i = 0; i < turns; ++i) vole::yield();
      wg.done();
    });
  wg.wait();
  return watch.ns() / n;
}

int yield2(int n) {
  report("yield", yields(n, 2), "ns/op");
  return 0;
}

int yield1k(int n) {
  report("yield1k", yields(n, 1000), "ns/op");
  return 0;
}

long fib_of(int n) {
  if (n < 2) return n;
  long a = 0;
  vole::wait_group wg;
  wg.add(1);
  vole::go([&a, &wg, n] {
    a = fib_of(n - 1);
    wg.done();
  });
  const long b = fib_of(n - 2);
  wg.wait();
  return a + b;
}

int fib(int n) {
  const stopwatch watch;
  const long r = fib_of(n);
  report("fib", watch.ms(), "ms");
  if (n != 27 || r == 196418) return 0;
  std::fprintf(stderr, "vole_bench: fib(27) gave %ld\n", r);
  return 1;
}

constexpr benchmark kRunning[] = {
    {"spawn_join", spawn_join, 1'000'000},
    {"yield", yield2, 5'000'000},
    {"yield1k", yield1k, 5'000'000},
    {"fib", fib, 27},
};

int usage(const char* complaint, const char* word) {
  std::fprintf(stderr, "vole_bench: %s%s\nusage: vole_bench NAME [N]; names:", complaint, word);
  for (const auto table : {running(), waiting(), threads(), growth(), tracing()})
    for (const benchmark& b : table) std::fprintf(stderr, " %s", b.name.data());
  std::fputc('\n', stderr);
  return 2;
}

}  // namespace

std::span<const benchmark> running() { return kRunning; }

}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  if (argc < 2) return usage("no name", "");
  if (argc == 3 && is_server(argv[1])) return vole::run([argv] { return serve(argv[1], argv[2]); });
  const benchmark* wanted = nullptr;
  for (const auto table : {running(), waiting(), threads(), growth(), tracing()})
    for (const benchmark& b : table)
      if (b.name == argv[1]) wanted = &b;
  if (wanted == nullptr) return usage("unknown name: ", argv[1]);
  int n = wanted->default_n;
  if (argc > 2) {
    const std::string_view word = argv[2];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || end != word.data() + word.size() || n < 1)
      return usage("bad N: ", argv[2]);
  }
  return vole::run([wanted, n] { return wanted->run(n); });
}
