// What the regression tests share: work that never enters the runtime, and limits.
//
// Who    tests/regress. Each file is named after a symptom and opens with the
//        interleaving that caused it.
// Law    a symptom that comes back fails the test or, where it is a hang, runs into
//        ctest's limit; nothing here sleeps to be in time.
#pragma once

#include <chrono>
#include <thread>

#include "../api/fixture.h"

namespace vole_test {

// User code that computes: a hog.
inline void compute_for(std::chrono::microseconds d) {
  const auto until = std::chrono::steady_clock::now() + d;
  while (std::chrono::steady_clock::now() < until) {
  }
}

// Longer than any slice [27], on a machine that is slow or shared.
inline constexpr std::chrono::milliseconds kPastItsSlice{40};

// Looks at pred() without entering the runtime, for longer than a busy machine needs. True: it held.
template <class Pred>
bool hog_until(Pred pred, std::chrono::milliseconds most = std::chrono::seconds(30)) {
  const auto until = std::chrono::steady_clock::now() + most;
  while (!pred()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();  // the kernel's, for machines with few processors
  }
  return true;
}

// On a goroutine, without giving its P away: until n Ps are idle.
inline bool hog_until_idle(int n) {
  return eventually([n] { return vole::stats().idle_procs >= n; });
}

class rounds {
 public:
  explicit rounds(int most, std::chrono::milliseconds d = std::chrono::milliseconds(1200))
      : left_(most), until_(std::chrono::steady_clock::now() + d) {}
  bool next() { return left_-- > 0 && std::chrono::steady_clock::now() < until_; }

 private:
  int left_;
  std::chrono::steady_clock::time_point until_;
};

}  // namespace vole_test

#define VOLE_AT_PROCS(Suite, ...)             \
  class Suite : public vole_test::Runtime {}; \
  INSTANTIATE_TEST_SUITE_P(Ps, Suite, testing::Values(__VA_ARGS__), vole_test::procs_name)
