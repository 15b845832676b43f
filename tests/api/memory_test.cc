// What goroutines cost: a record while they are queued, pages and no mappings while parked.

#include <vole/vole.h>

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <string>

#include "fixture.h"

namespace {

using vole_test::kSanitized;

class Memory : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Memory);

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t n = 0;
  for (std::string line; std::getline(maps, line);) ++n;
  return n;
}

TEST_P(Memory, QueuedGoroutineCostsItsRecord) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep shadow memory for every record";
  constexpr std::size_t kMany = 1'000'000;
  vole::run([] {
    static std::atomic<std::size_t> ran;
    ran = 0;
    vole::wait_group left;
    left.add(static_cast<int>(kMany));
    const std::size_t before = resident_bytes();
    for (std::size_t i = 0; i < kMany; ++i)
      vole::go([&left] {
        ++ran;
        left.done();
      });
    const std::size_t after = resident_bytes();
    const std::size_t queued = kMany - ran;  // at more than one P some have run already
    // A fixed part (stacks, regions) is not the queue's.
    const std::size_t grown = after > before ? after - before : 0;
    EXPECT_LT(grown, queued * 400 + (32u << 20)) << queued << " are queued";
    left.wait();
  });
}

TEST_P(Memory, HundredThousandParkedOnesFitTheDefaultLimits) {
  constexpr int kMany = kSanitized ? 5'000 : 100'000;
  const std::size_t before = mappings();
  vole::run([before] {
    vole::wait_group gate, all;
    std::atomic<int> parked{0};
    gate.add();
    for (int i = 0; i < kMany; ++i)
      all.go([&] {
        ++parked;
        gate.wait();
      });
    while (parked < kMany) vole::yield();
    EXPECT_GE(vole::stats().stacks_in_use, static_cast<std::size_t>(kMany));
    EXPECT_LT(mappings(), before + (kSanitized ? 60000u : 1000u));
    gate.done();
    all.wait();
  });
}

}  // namespace
