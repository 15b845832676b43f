// From plain threads: no run() anywhere. The first go() starts the runtime, every
// call works on an ordinary std::thread and blocks that thread, and shutdown() ends
// the runtime when the program has no more use for it.

#include <vole/vole.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

// A library function that is fast inside and looks ordinary from outside.
long sum_of_squares(int n) {
  std::atomic<long> sum{0};
  vole::wait_group all;
  for (int i = 1; i <= n; ++i) all.go([&sum, i] { sum.fetch_add(static_cast<long>(i) * i); });
  all.wait();  // a goroutine would park here; a plain thread blocks
  return sum;
}

bool serve() {
  std::vector<long> sums(4);
  std::vector<std::thread> threads;
  for (long& s : sums) threads.emplace_back([&s] { s = sum_of_squares(100); });
  for (std::thread& t : threads) t.join();
  auto extra = vole::spawn([] { return vole::goroutine_id() != 0; });
  bool ok = extra.join() && vole::goroutine_id() == 0;
  for (const long s : sums) ok = ok && s == 338350;
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  for (int round = 1; round <= 2; ++round) {
    ok = ok && serve();
    std::printf("round %d: served by %d threads of the runtime's own\n", round,
                vole::stats().threads);
    vole::shutdown();  // the next go() starts a new runtime
    ok = ok && vole::stats().threads == 0;
  }
  std::printf(ok ? "all sums agree\n" : "a sum is wrong\n");
  return ok ? 0 : 1;
}
