// What the rows of the floor share: the clock, the report, guarded stacks, the switch, a lock.
//
// Law    no scheduler: who runs next is known beforehand, or stands in a ring that nobody else
//        looks at. Only what a design with guarded stacks of its own, locks and switches cannot
//        do without; what a row leaves out is said at the row.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace bench {

class stopwatch {
 public:
  double ns() const {
    return std::chrono::duration<double, std::nano>(clock::now() - start_).count();
  }
  double ms() const { return ns() / 1e6; }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

inline void report(const char* name, double value, const char* unit) {
  std::printf("%s %.2f %s\n", name, value, unit);
}

struct benchmark {
  std::string_view name;
  int (*run)(int n);  // takes N and returns the program's exit status
  int default_n;
};

std::span<const benchmark> calls();     // floor.cc: neither stacks nor switches
std::span<const benchmark> stacks();    // stacks.cc: what the kernel does for a stack
std::span<const benchmark> turns();     // turns.cc: who runs next, and the switch
std::span<const benchmark> messages();  // messages.cc: channels

// work(k), k below `count`, each on a thread of its own; returns when all are done.
template <class Work>
void on_threads(std::size_t count, Work work) {
  std::vector<std::thread> others;
  for (std::size_t k = 1; k < count; ++k) others.emplace_back(work, k);
  work(std::size_t{0});
  for (std::thread& t : others) t.join();
}

inline std::size_t cores() {
  const unsigned n = std::thread::hardware_concurrency();
  return n == 0 ? 1 : n;
}

// What each core does of n.
inline std::vector<std::size_t> shares_of(std::size_t n) {
  const std::size_t count = cores();
  std::vector<std::size_t> shares;
  for (std::size_t k = 0; k < count; ++k) shares.push_back(n * (k + 1) / count - n * k / count);
  return shares;
}

// Stacks of 256 KiB, each above a guard page; one range of addresses, no page of it touched.
class stack_range {
 public:
  static constexpr std::size_t kBatch = 64;  // guards made by one call

  explicit stack_range(std::size_t n);
  ~stack_range();
  stack_range(const stack_range&) = delete;
  stack_range& operator=(const stack_range&) = delete;

  void guard(std::size_t first, std::size_t n);  // n: at most kBatch
  // Where stack i begins. Not all at the same place of their page: they would share cache lines.
  std::byte* top(std::size_t i) const { return base_ + (i + 1) * stride_ - i * 7 % 32 * 64; }

 private:
  std::size_t page_, stride_, bytes_;
  std::byte* base_;
};

// A lock that nobody else wants: a compare-exchange and a plain store.
class plain_lock {
 public:
  void lock() {
    std::uint32_t expected = 0;
    while (!word_.compare_exchange_weak(expected, 1, std::memory_order_acquire)) expected = 0;
  }
  void unlock() { word_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace bench
