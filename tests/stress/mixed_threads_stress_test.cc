// Plain threads and goroutines start, join and wait for each other at the same time.

#include <vole/vole.h>

#include <atomic>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

using vole_test::dice;

VOLE_STRESS(MixedThreadsStress);

// What plain threads and goroutines alike do: start, wait, join.
void live(dice d, const vole_test::time_limit& limit, std::atomic<long>& balance) {
  while (!limit.over()) {
    switch (d.below(4)) {
      case 0: {
        ++balance;
        vole::wait_group done;
        done.go([&balance] { --balance; });
        done.wait();
        break;
      }
      case 1: {
        const std::uint32_t n = d.below(100);
        EXPECT_EQ(vole::spawn([n] {
                    vole::yield();
                    return n;
                  }).join(),
                  n);
        break;
      }
      case 2: {
        std::vector<vole::join_handle<int>> many;
        for (std::uint32_t i = d.below(50); i > 0; --i)
          many.push_back(vole::spawn([&balance] {
            ++balance;
            vole::yield();
            --balance;
            return 1;
          }));
        break;  // the handles join
      }
      default: vole::yield();
    }
  }
}

TEST_P(MixedThreadsStress, EverybodyStartsAndJoins) {
  const vole_test::time_limit limit;
  std::atomic<long> balance{0};
  vole::run([&] {
    vole::wait_group all;
    std::vector<std::thread> threads;
    all.add(3);
    for (std::uint64_t i = 0; i < 3; ++i)
      threads.emplace_back([&, i] {
        live(dice(i), limit, balance);
        all.done();
      });
    for (std::uint64_t i = 0; i < 3; ++i)
      all.go([&, i] { live(dice(50 + i), limit, balance); });
    all.wait();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(balance, 0);
  });
  expect_clean();
}

TEST_P(MixedThreadsStress, WithoutRun) {
  const vole_test::time_limit limit;
  std::atomic<long> balance{0};
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 3; ++i)
    threads.emplace_back([&, i] { live(dice(70 + i), limit, balance); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(balance, 0);
  vole::shutdown();
}

}  // namespace
