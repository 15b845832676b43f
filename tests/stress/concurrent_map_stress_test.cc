// concurrent_map and singleflight under load, seeded.
//
// Law    what they protect is plain memory here: TSan sees every hole.

#include <vole/vole.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

using vole_test::dice;

constexpr int kWorkers = 8;
constexpr int kKeys = 20;

class MapStress : public vole_test::Stress {};
INSTANTIATE_TEST_SUITE_P(Ps, MapStress, testing::Values(1, 2, 4, 64), vole_test::procs_name);

// work(dice) on goroutines and two plain threads at once.
template <class Work>
void everywhere(Work work) {
  vole::run([&] {
    vole::wait_group all;
    for (std::uint64_t i = 0; i < kWorkers; ++i) all.go([&, i] { work(dice(i)); });
    std::thread a([&] { work(dice(100)); }), b([&] { work(dice(101)); });
    all.wait();
    vole::blocking([&] {
      a.join();
      b.join();
    });
  });
}

// Each adds and takes away: in the end the sums agree, whatever came between.
TEST_P(MapStress, NothingIsLostOrTwice) {
  vole::concurrent_map<int, std::uint64_t> m;
  std::atomic<std::uint64_t> put{0}, taken{0};
  const vole_test::time_limit limit;
  everywhere([&](dice d) {
    while (!limit.over()) {
      const int key = static_cast<int>(d.below(kKeys));
      const std::uint64_t n = d.below(1000) + 1;
      switch (d.below(6)) {
        case 0: {
          put += n;
          taken += m.swap(key, n).value_or(0);
          break;
        }
        case 1: {
          if (!m.load_or_store(key, n).second) put += n;
          break;
        }
        case 2: taken += m.load_and_delete(key).value_or(0); break;
        case 3: {
          m.update(key, [&](std::optional<std::uint64_t>& v) { v = v.value_or(0) + n; });
          put += n;
          break;
        }
        case 4: {
          const std::optional<std::uint64_t> now = m.load(key);
          if (now && m.compare_and_delete(key, *now)) taken += *now;
          break;
        }
        default: {
          const std::optional<std::uint64_t> now = m.load(key);
          if (now && m.compare_and_swap(key, *now, *now + n)) put += n;
        }
      }
    }
  });
  std::uint64_t left = 0;
  m.for_each([&](int, std::uint64_t v) { left += v; });
  EXPECT_EQ(put - taken, left);
  EXPECT_LE(m.size(), static_cast<std::size_t>(kKeys));
}

// ThreadSanitizer does not see how the C++ library counts those who share an exception.
#ifdef VOLE_SANITIZE_THREAD
constexpr bool kSharesExceptions = false;
#else
constexpr bool kSharesExceptions = true;
#endif

// At most one flies for a key; its plain counter shows it. A waiter sees all of it.
TEST_P(MapStress, OneFliesAtATime) {
  struct lane {
    std::uint64_t flights = 0;  // plain: written by who flies
    std::atomic<int> flying{0};
  };
  std::vector<lane> lanes(4);
  vole::singleflight<std::size_t, std::shared_ptr<std::uint64_t>> s;
  const vole_test::time_limit limit;
  everywhere([&](dice d) {
    while (!limit.over()) {
      const std::size_t key = d.below(4);
      const bool throws = d.below(10) == 0 && kSharesExceptions;
      try {
        const auto result = s.call(key, [&] {
          EXPECT_EQ(lanes[key].flying++, 0);
          const std::uint64_t n = ++lanes[key].flights;
          if (throws) vole::yield();
          --lanes[key].flying;
          if (throws) throw n;
          return std::make_shared<std::uint64_t>(n);
        });
        EXPECT_GT(*result, 0u);
      } catch (std::uint64_t n) {
        EXPECT_GT(n, 0u);
      }
      if (d.below(4) == 0) vole::yield();
    }
  });
}

}  // namespace
