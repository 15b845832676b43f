// What the benchmark files share: the clock, the report, the tables.
#pragma once

#include <chrono>
#include <cstdio>
#include <span>
#include <string_view>

namespace bench {

using clock = std::chrono::steady_clock;

class stopwatch {
 public:
  double ns() const {
    return std::chrono::duration<double, std::nano>(clock::now() - start_).count();
  }
  double ms() const { return ns() / 1e6; }

 private:
  clock::time_point start_ = clock::now();
};

inline void report(const char* name, double value, const char* unit) {
  std::printf("%s %.2f %s\n", name, value, unit);
}

long rss_kb();  // waiting.cc: what the process has in memory

struct benchmark {
  std::string_view name;
  int (*run)(int n);  // takes N and returns the program's exit status
  int default_n;
};

std::span<const benchmark> running();  // bench.cc: goroutines alone
std::span<const benchmark> waiting();  // waiting.cc: channels, select, mutex
std::span<const benchmark> growth();   // growth.cc: what bench/curves.py adds
std::span<const benchmark> threads();  // threads.cc: calls that block, loops, sleepers
std::span<const benchmark> tracing();  // tracing.cc: what bench/tracing.py adds

}  // namespace bench
