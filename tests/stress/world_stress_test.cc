// The world stops and changes size while everything else goes on [3] [33].

#include <vole/vole.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

using vole_test::dice;

VOLE_STRESS(WorldStress);

// Spawns, yields, parks and joins until told to stop. Returns how many it started and saw end.
struct tally {
  std::atomic<long> started{0}, ended{0};
};

void work(dice d, const std::atomic<bool>& stop, tally& t) {
  while (!stop) {
    vole::wait_group batch;
    for (std::uint32_t i = d.below(30); i > 0; --i) {
      ++t.started;
      batch.go([&t, yields = d.below(3)] {
        for (std::uint32_t k = 0; k < yields; ++k) vole::yield();
        ++t.ended;
      });
    }
    if (d.below(2) == 0) vole::yield();
    batch.wait();
    if (d.below(4) == 0) vole::spawn([] { vole::yield(); }).join();
  }
}

TEST_P(WorldStress, ResizeDumpAndStatsWhileOthersWork) {
  std::FILE* const nowhere = std::fopen("/dev/null", "w");
  ASSERT_NE(nowhere, nullptr);
  const vole_test::time_limit limit;
  vole::run([&] {
    std::atomic<bool> stop{false};
    tally t;
    vole::wait_group workers;
    for (std::uint64_t i = 0; i < 6; ++i) workers.go([&, i] { work(dice(i), stop, t); });
    for (std::uint64_t i = 0; i < 3; ++i)
      workers.go([&, i] {
        for (dice d(100 + i); !stop;) {
          vole::set_max_procs(1 + static_cast<int>(d.below(64)));
          if (d.below(2) == 0) vole::yield();
        }
      });
    workers.go([&] {
      while (!stop) {
        vole::dump_goroutines(nowhere);
        vole::yield();
      }
    });
    workers.go([&] {
      while (!stop) {
        const vole::runtime_stats s = vole::stats();
        EXPECT_GE(s.procs, 1);
        EXPECT_GE(s.goroutines, 1u);
        vole::yield();
      }
    });
    std::thread plain([&] {
      for (dice d(200); !stop;) {
        vole::set_max_procs(1 + static_cast<int>(d.below(64)));
        vole::dump_goroutines(nowhere);
        vole::stats();
      }
    });
    std::thread watch([&] {
      while (!limit.over()) std::this_thread::yield();
      stop = true;
    });
    workers.wait();
    plain.join();
    watch.join();
    EXPECT_EQ(t.started, t.ended);
  });
  std::fclose(nowhere);
  expect_clean();
}

// A stop must not wait for user code, nor lose a request that comes while another is answered.
TEST_P(WorldStress, StopsAreNotLostBesideLongUserCode) {
  const vole_test::time_limit limit;
  vole::run([&] {
    std::atomic<bool> stop{false};
    std::atomic<long> turns{0};
    vole::wait_group workers;
    for (std::uint64_t i = 0; i < 3; ++i)
      workers.go([&, i] {
        // Enters often, then computes until some stop has come and gone.
        for (dice d(i); !stop;) {
          for (std::uint32_t k = d.below(50); k > 0; --k) vole::go([] {});
          const long seen = turns;
          while (turns == seen && !stop) std::this_thread::yield();
        }
      });
    std::thread plain([&] {
      for (int i = 0; i == 0 || !limit.over(); ++i) {
        vole::set_max_procs(4 + i % 3);
        ++turns;
      }
      stop = true;
    });
    workers.wait();
    plain.join();
    EXPECT_GT(turns, 0);
  });
}

}  // namespace
