// Fan out: a few workers share one list of work. The next item is an atomic index,
// so no two workers get the same one and a slow item holds nobody up.

#include <vole/vole.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

int count_primes(int from, int to) {
  int found = 0;
  for (int n = from < 2 ? 2 : from; n < to; ++n) {
    bool prime = true;
    for (int d = 2; d * d <= n && prime; ++d) prime = n % d != 0;
    found += prime ? 1 : 0;
  }
  return found;
}

}  // namespace

int main() {
  constexpr std::size_t kChunks = 50;
  constexpr int kChunk = 1000;
  std::vector<int> found(kChunks);

  vole::run([&] {
    std::atomic<std::size_t> next{0};
    vole::wait_group workers;
    for (int w = 0; w < 2 * vole::max_procs(); ++w)
      workers.go([&] {
        for (;;) {
          const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
          if (i >= kChunks) return;
          const int from = static_cast<int>(i) * kChunk;
          found[i] = count_primes(from, from + kChunk);
          vole::checkpoint();  // lets others run if our time slice is over
        }
      });
    workers.wait();
  });

  const int total = std::accumulate(found.begin(), found.end(), 0);
  std::printf("primes below %zu: %d\n", kChunks * kChunk, total);
  return total == 5133 ? 0 : 1;
}
