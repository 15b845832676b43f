#include "stack/depot.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "os/os.h"

namespace vole::rt {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

constexpr std::size_t kSize = 256 * 1024;

class Depot : public testing::Test {
 protected:
  void TearDown() override {
    depot::release_all();
    depot::force_mprotect_guards_for_test(false);
    EXPECT_EQ(depot::count().regions, 0u);
    EXPECT_EQ(depot::count().held, 0u);
  }
};
using DepotDeathTest = Depot;

std::vector<stack> take(std::size_t bytes, std::size_t n) {
  std::vector<stack> all(n);
  int error = 0;
  std::size_t done = 0;
  while (done < n) {
    const std::size_t got = depot::take(bytes, all.data() + done, n - done, &error);
    if (got == 0) break;
    done += got;
  }
  all.resize(done);
  return all;
}
void put(const std::vector<stack>& all) { depot::put(all.data(), all.size()); }

stack take_one(std::size_t bytes) {
  stack s;
  int error = 0;
  EXPECT_EQ(depot::take(bytes, &s, 1, &error), 1u) << os::error_text(error);
  return s;
}

void touch(const stack& s) { s.lo[s.bytes - 1] = std::byte{1}; }

std::size_t resident(const stack& s) {
  std::vector<unsigned char> pages(s.bytes / os::page_size());
  EXPECT_EQ(mincore(s.lo, s.bytes, pages.data()), 0);
  std::size_t n = 0;
  for (const unsigned char p : pages) n += p & 1;
  return n;
}

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t n = 0;
  for (std::string line; std::getline(maps, line);) ++n;
  return n;
}

TEST_F(Depot, SizesRoundUpToFewClasses) {
  EXPECT_EQ(depot::round_size(0), depot::kMinStackSize);
  EXPECT_EQ(depot::round_size(256 * 1024), 256u * 1024);
  EXPECT_EQ(depot::round_size(256 * 1024 + 1), 320u * 1024);
  EXPECT_EQ(depot::round_size(depot::kMaxStackSize), depot::kMaxStackSize);
  std::set<std::size_t> sizes;
  for (std::size_t n = 1; n <= depot::kMaxStackSize; n += n / 16 + 1) {
    const std::size_t rounded = depot::round_size(n);
    EXPECT_GE(rounded, n);
    EXPECT_EQ(rounded % os::page_size(), 0u);
    EXPECT_EQ(depot::round_size(rounded), rounded);
    sizes.insert(rounded);
  }
  EXPECT_LE(sizes.size(), 65u);
}

TEST_F(Depot, StacksAreDistinctWritableAndColoured) {
  const std::vector<stack> all = take(kSize, 200);
  ASSERT_EQ(all.size(), 200u);
  std::set<std::byte*> places;
  std::set<std::ptrdiff_t> colours;
  for (const stack& s : all) {
    ASSERT_TRUE(s);
    EXPECT_EQ(s.bytes, kSize);
    EXPECT_TRUE(places.insert(s.lo).second);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(s.top()) % 16, 0u);
    colours.insert(s.lo + s.bytes - s.top());
    touch(s);
    s.lo[0] = std::byte{1};
  }
  EXPECT_EQ(colours.size(), 32u);
  EXPECT_EQ(*colours.rbegin(), 31 * 64);
  EXPECT_EQ(depot::count().held, 200u);
  put(all);
  EXPECT_EQ(depot::count().held, 0u);
  EXPECT_EQ(depot::count().hot, 200u);
}

TEST_F(Depot, LastPutIsTakenFirst) {
  const std::vector<stack> all = take(kSize, 3);
  put(all);
  EXPECT_EQ(take_one(kSize).id, all[2].id);
  EXPECT_EQ(take_one(kSize).id, all[1].id);
  EXPECT_EQ(take_one(kSize).id, all[0].id);
}

TEST_F(Depot, MixedSizesGoBackToTheirOwnClass) {
  const stack small = take_one(depot::kMinStackSize);
  const stack large = take_one(8 << 20);
  const stack both[] = {small, large};
  touch(small);
  touch(large);
  depot::put(both, 2);
  EXPECT_EQ(take_one(8 << 20).id, large.id);
  EXPECT_EQ(take_one(depot::kMinStackSize).id, small.id);
}

TEST_F(Depot, EverySizeThereIsFits) {
  if (kSanitized) GTEST_SKIP() << "too much address space";
  for (std::size_t n = 0; n <= depot::kMaxStackSize;) {
    const stack s = take_one(n);
    touch(s);
    n = s.bytes + std::size_t{1};
  }
  stack s;
  int error = 0;
  EXPECT_EQ(depot::take(depot::kMaxStackSize + 1, &s, 1, &error), 0u);
  EXPECT_EQ(error, EINVAL);
}

TEST_F(Depot, GuardPagesAreKnownExactly) {
  for (const stack& s : take(kSize, 50)) {
    EXPECT_TRUE(depot::is_guard(s.lo - 1));
    EXPECT_TRUE(depot::is_guard(s.lo - os::page_size()));
    EXPECT_FALSE(depot::is_guard(s.lo));
    EXPECT_FALSE(depot::is_guard(s.lo + s.bytes - 1));
  }
  int local = 0;
  EXPECT_FALSE(depot::is_guard(&local));
  EXPECT_FALSE(depot::is_guard(nullptr));
}

void hit_guard(bool by_mprotect) {
  depot::force_mprotect_guards_for_test(by_mprotect);
  const std::vector<stack> all = take(kSize, 40);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGSEGV, &standard, nullptr);
  os::install_fault_handler([](void* a) noexcept { _exit(depot::is_guard(a) ? 9 : 10); });
  *static_cast<volatile std::byte*>(all[33].lo - 1) = std::byte{1};
  _exit(11);
}

TEST_F(DepotDeathTest, WritingBelowAStackFaultsInItsGuard) {
  EXPECT_EXIT(hit_guard(false), testing::ExitedWithCode(9), "^$");
  EXPECT_EXIT(hit_guard(true), testing::ExitedWithCode(9), "stack guards use mprotect, at most");
}

TEST_F(Depot, HundredThousandStacksNeedFewMappings) {
  const std::size_t before = mappings();
  const std::vector<stack> all = take(kSize, 100'000);
  ASSERT_EQ(all.size(), 100'000u);
  if (depot::count().guards_by_mprotect > 0) GTEST_SKIP() << "no cheap guards on this kernel";
  EXPECT_LT(mappings() - before, 200u);
  EXPECT_LT(depot::count().regions, 60u);
  put(all);
}

TEST_F(Depot, TrimGivesBackOnlyWhatNobodyNeededSince) {
  const std::vector<stack> all = take(kSize, 64);
  for (const stack& s : all) touch(s);
  put(all);
  EXPECT_EQ(depot::trim(), 64u);  // put since the last trim
  const std::vector<stack> some = take(kSize, 10);
  put(some);
  EXPECT_EQ(depot::trim(), 10u);
  EXPECT_EQ(depot::count().cold, 54u);
  std::size_t pages = 0;
  for (const stack& s : all) pages += resident(s);
  EXPECT_EQ(pages, 10u);
  EXPECT_EQ(depot::trim(), 0u);
  EXPECT_EQ(depot::count().cold, 64u);
  for (const stack& s : all) EXPECT_EQ(resident(s), 0u);
  const stack again = take_one(kSize);
  EXPECT_EQ(again.lo[again.bytes - 1], std::byte{0});
  EXPECT_TRUE(depot::is_guard(again.lo - 1));
}

void trim_under_mlockall() {
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_MEMLOCK, &all);
  const stack early = take_one(64 * 1024);
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) _exit(42);
  const std::vector<stack> later = take(kSize, 200);
  if (later.size() != 200) _exit(1);
  for (const stack& s : later)
    if (resident(s) != 0) _exit(2);  // locked memory must not mean 50 MiB at once
  if (depot::count().guards_by_mprotect != 0) _exit(3);
  depot::put(&early, 1);
  depot::trim();
  if (depot::trim() != 1 || depot::count().cold != 0) _exit(4);  // its pages are locked
  if (take_one(64 * 1024).id != early.id) _exit(5);
  os::install_fault_handler([](void* a) noexcept { _exit(depot::is_guard(a) ? 0 : 6); });
  *static_cast<volatile std::byte*>(later[150].lo - 1) = std::byte{1};
}

TEST_F(DepotDeathTest, LockedProcessStillGetsLazyGuardedStacks) {
  if (kSanitized) GTEST_SKIP() << "locking all memory under sanitizers is not wise";
  const auto fine = [](int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 42);
  };
  EXPECT_EXIT(trim_under_mlockall(), fine, "");
}

TEST_F(Depot, MprotectGuardsStopAtTheBudget) {
  depot::force_mprotect_guards_for_test(true);
  const std::size_t most = os::mapping_budget() / 2;
  if (most > 100'000) GTEST_SKIP() << "vm.max_map_count is very large here";
  testing::internal::CaptureStderr();
  const std::vector<stack> all = take(depot::kMinStackSize, most + 100);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(all.size(), most);
  EXPECT_EQ(depot::count().guards_by_mprotect, most);
  stack s;
  int error = 0;
  EXPECT_EQ(depot::take(depot::kMinStackSize, &s, 1, &error), 0u);
  EXPECT_EQ(error, ENOMEM);
  depot::release_all();
  EXPECT_EQ(depot::count().guards_by_mprotect, 0u);
  EXPECT_TRUE(take_one(kSize));
}

void exhaust(__rlimit_resource resource) {
  std::size_t all, skip, data;
  std::ifstream("/proc/self/statm") >> all >> skip >> skip >> skip >> skip >> data;
  const rlim_t bytes = (resource == RLIMIT_AS ? all : data) * os::page_size() + (200u << 20);
  const rlimit limit{bytes, bytes};
  if (setrlimit(resource, &limit) != 0) _exit(2);
  std::size_t n = 0;
  stack s;
  int error = 0;
  while (n < 10'000 && depot::take(kSize, &s, 1, &error) == 1) {
    touch(s);
    ++n;
  }
  if (n < 300 || n > 900) _exit(3);
  if (error != ENOMEM) _exit(4);
  depot::put(&s, 1);
  if (depot::take(kSize, &s, 1, &error) != 1) _exit(5);  // what is free can still be had
  depot::release_all();
  _exit(depot::take(kSize, &s, 1, &error) == 1 ? 0 : 6);
}

TEST_F(DepotDeathTest, AddressSpaceRunsOutWithAnError) {
  if (kSanitized) GTEST_SKIP() << "address space cannot be limited under sanitizers";
  EXPECT_EXIT(exhaust(RLIMIT_AS), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exhaust(RLIMIT_DATA), testing::ExitedWithCode(0), "");
}

TEST_F(Depot, PinnedRegionSurvivesRelease) {
  const stack kept = take_one(kSize);
  touch(kept);
  depot::pin(kept);
  depot::release_all();
  EXPECT_EQ(kept.lo[kept.bytes - 1], std::byte{1});
  EXPECT_TRUE(depot::is_guard(kept.lo - 1));
  const stack next = take_one(kSize);
  EXPECT_NE(next.id, kept.id);
  EXPECT_NE(next.lo, kept.lo);
  touch(next);
}

TEST_F(Depot, ThreadsTakePutAndTrimAtOnce) {
  std::vector<std::thread> threads;
  base::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &wrong] {
      stack mine[7];
      for (int round = 0; round < 2000; ++round) {
        int error = 0;
        const std::size_t n = depot::take(t % 2 == 0 ? kSize : 64 * 1024, mine, 7, &error);
        for (std::size_t i = 0; i < n; ++i) mine[i].lo[64] = static_cast<std::byte>(t + 1);
        if (t == 0 && round % 50 == 0) depot::trim();
        for (std::size_t i = 0; i < n; ++i)
          if (mine[i].lo[64] != static_cast<std::byte>(t + 1)) wrong.fetch_add(1);
        if (n == 0) wrong.fetch_add(1);
        depot::put(mine, n);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(depot::count().held, 0u);
}

}  // namespace
}  // namespace vole::rt
