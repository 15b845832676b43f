// The work of bench/README.md on oneTBB: `tbb_bench NAME [N]` prints "NAME value unit".
//
// TBB's tasks run to their end on the thread that took them and cannot wait for each other
// but by joining: it offers fib and spawn_join, and no other name.
//
// Idioms:
// - a task_group's own count stands for the wait group: a task's end is its done().
// - fib: a group and a task per call, as Go's has a wait group and a goroutine. With
//   parallel_invoke, which keeps its tasks on the stack, no difference was seen.
// - the threads are TBB's default, one per core; the one that waits for a group works meanwhile.
#include <oneapi/tbb/task_group.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <system_error>

namespace {

using clock_type = std::chrono::steady_clock;

double ns_since(clock_type::time_point start) {
  return std::chrono::duration<double, std::nano>(clock_type::now() - start).count();
}

void report(const char* name, double value, const char* unit) {
  std::printf("%s %.2f %s\n", name, value, unit);
}

int spawn_join(long n) {
  const auto start = clock_type::now();
  tbb::task_group group;
  for (long i = 0; i < n; ++i) group.run([] {});
  group.wait();
  report("spawn_join", ns_since(start) / static_cast<double>(n), "ns/op");
  return 0;
}

long fib_of(long n) {
  if (n < 2) return n;
  long a = 0;
  tbb::task_group group;
  group.run([&a, n] { a = fib_of(n - 1); });
  const long b = fib_of(n - 2);
  group.wait();
  return a + b;
}

int fib(long n) {
  const auto start = clock_type::now();
  const long r = fib_of(n);
  report("fib", ns_since(start) / 1e6, "ms");
  if (n != 27 || r == 196418) return 0;
  std::fprintf(stderr, "tbb_bench: fib(27) gave %ld\n", r);
  return 1;
}

struct benchmark {
  std::string_view name;
  int (*run)(long n);  // takes N and returns the program's exit status
  long default_n;
};

constexpr benchmark kAll[] = {
    {"spawn_join", spawn_join, 1'000'000},
    {"fib", fib, 27},
};

int usage(const char* complaint, const char* word) {
  std::fprintf(stderr, "tbb_bench: %s%s\nusage: tbb_bench NAME [N]; names:", complaint, word);
  for (const benchmark& b : kAll) std::fprintf(stderr, " %s", b.name.data());
  std::fputc('\n', stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return usage("no name", "");
  const benchmark* wanted = nullptr;
  for (const benchmark& b : kAll)
    if (b.name == argv[1]) wanted = &b;
  if (wanted == nullptr) return usage("unknown name: ", argv[1]);
  long n = wanted->default_n;
  if (argc > 2) {
    const std::string_view word = argv[2];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || end != word.data() + word.size() || n < 1)
      return usage("bad N: ", argv[2]);
  }
  return wanted->run(n);
}
