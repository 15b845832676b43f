// What all stress tests share: seeds, time limits, and 1, 2, 4 and 64 Ps.
//
// Law    a failure can be repeated: the seed is printed, VOLE_SEED=n sets it. (The
//        kernel's scheduling is not seeded; the seed repeats what the test does.)
// Note   each test works for a second or so, however slow the build; VOLE_STRESS_SCALE=n makes it
//        n times as long. Less than once is for those alone that did not say how long they need.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "../api/fixture.h"

namespace vole_test {

inline std::uint64_t seed() {
  static const std::uint64_t s = [] {
    const char* const set = std::getenv("VOLE_SEED");
    const std::uint64_t n = set != nullptr ? std::strtoull(set, nullptr, 10) : std::random_device{}();
    std::printf("VOLE_SEED=%llu\n", static_cast<unsigned long long>(n));
    return n;
  }();
  return s;
}

// Small, copyable, one for each goroutine.
class dice {
 public:
  explicit dice(std::uint64_t stream) : state_(seed() * 0x9e3779b97f4a7c15u + stream) {}
  std::uint32_t below(std::uint32_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state_ >> 33) % n);
  }
  std::uint64_t fork() { return (std::uint64_t{below(1u << 30)} << 30) | below(1u << 30); }

 private:
  std::uint64_t state_;
};

inline double scale() {
  static const double n = [] {
    const char* const set = std::getenv("VOLE_STRESS_SCALE");
    return set != nullptr && std::atof(set) > 0 ? std::atof(set) : 1.0;
  }();
  return n;
}

class time_limit {
 public:
  time_limit() : time_limit(scale(), std::chrono::milliseconds(700)) {}
  explicit time_limit(std::chrono::milliseconds d) : time_limit(std::max(scale(), 1.0), d) {}
  bool over() const { return std::chrono::steady_clock::now() > until_; }

 private:
  time_limit(double times, std::chrono::milliseconds d)
      : until_(std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::milliseconds>(d * times)) {}

  std::chrono::steady_clock::time_point until_;
};

// Where work in flight is abandoned a thread may be anywhere: allow_zombies().
class Stress : public Runtime {
 protected:
  void SetUp() override {
    seed();
    Runtime::SetUp();
  }
};

}  // namespace vole_test

#define VOLE_STRESS(Suite)                                                      \
  class Suite : public vole_test::Stress {};                                    \
  INSTANTIATE_TEST_SUITE_P(Ps, Suite, testing::Values(1, 2, 4, 64), vole_test::procs_name)
