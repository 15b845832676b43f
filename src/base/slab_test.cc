#include "base/slab.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

namespace vole::base {
namespace {

struct record {
  std::uint64_t words[9];  // 72 bytes: rounded to 128
};
constinit slab<record> global_slab;
static_assert(std::is_trivially_destructible_v<slab<record>>);

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

TEST(Slab, RecordsAreAlignedZeroedAndDistinct) {
  std::set<record*> seen;
  for (int i = 0; i < 3000; ++i) {
    record* const r = global_slab.allocate_raw();
    ASSERT_NE(r, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(r) % 64, 0u);
    for (const std::uint64_t w : r->words) EXPECT_EQ(w, 0u);
    std::memset(r, 0xff, sizeof *r);
    EXPECT_TRUE(seen.insert(r).second);
  }
  EXPECT_EQ(global_slab.count(), 3000u);
  std::size_t walked = 0;
  global_slab.for_each([&](record* r) {
    EXPECT_TRUE(seen.contains(r));
    ++walked;
  });
  EXPECT_EQ(walked, 3000u);
  global_slab.release_all();
  EXPECT_EQ(global_slab.count(), 0u);
}

TEST(Slab, BatchCrossesChunksAndOrderIsKept) {
  slab<record> s;
  std::vector<record*> out(5000);
  ASSERT_EQ(s.allocate_batch(out.data(), out.size()), out.size());
  std::size_t i = 0;
  s.for_each([&](record* r) { EXPECT_EQ(r, out[i++]); });
  EXPECT_EQ(i, out.size());
  EXPECT_GE(s.mapped_bytes(), 5000u * 128);
  EXPECT_LT(s.mapped_bytes(), 4 * 5000u * 128);
  s.release_all();
}

TEST(Slab, RecordLargerThanAChunkGetsOneOfItsOwn) {
  struct large {
    char bytes[200'000];
  };
  slab<large> s;
  large* const a = s.allocate_raw();
  large* const b = s.allocate_raw();
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  a->bytes[199'999] = b->bytes[199'999] = 1;
  s.release_all();
}

TEST(Slab, PinnedChunkSurvivesRelease) {
  slab<record> s;
  record* const kept = s.allocate_raw();
  kept->words[0] = 42;
  std::vector<record*> more(5000);
  ASSERT_EQ(s.allocate_batch(more.data(), more.size()), more.size());
  s.pin(kept);
  s.release_all();
  EXPECT_EQ(kept->words[0], 42u);
  EXPECT_EQ(s.count(), 0u);
  record* const fresh = s.allocate_raw();
  ASSERT_NE(fresh, nullptr);
  EXPECT_NE(fresh, kept);
  EXPECT_EQ(fresh->words[0], 0u);
  s.release_all();
}

TEST(Slab, WalkersSeeAGrowingPrefixWhileOthersAllocate) {
  slab<record> s;
  constexpr int kEach = 20'000;
  std::vector<std::thread> makers;
  for (int t = 0; t < 3; ++t)
    makers.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) ASSERT_NE(s.allocate_raw(), nullptr);
    });
  std::size_t before = 0;
  while (before < 3 * kEach) {
    std::size_t n = 0;
    s.for_each([&](record*) { ++n; });
    ASSERT_GE(n, before);
    before = n;
  }
  for (std::thread& m : makers) m.join();
  EXPECT_EQ(s.count(), 3u * kEach);
  s.release_all();
}

// A maker                      a walker (a trace that lists the threads)
//   takes the memory
//                                finds the record, and reads a word of it
//   constructs: writes the word
TEST(Slab, WalkersSeeOnlyWhatIsMade) {
  struct made {
    atomic<int> word{7};
  };
  slab<made> s;
  constexpr std::size_t kAll = 20'000;
  std::thread maker([&] {
    for (std::size_t i = 0; i < kAll; ++i) ASSERT_NE(s.make(), nullptr);
  });
  for (std::size_t n = 0; n < kAll;) {
    n = 0;
    s.for_each([&](made* m) {
      ASSERT_EQ(m->word.load(relaxed), 7);
      ++n;
    });
  }
  maker.join();
  s.release_all();
}

// From now on this process may map that much more and no more.
void limit_memory(std::size_t more) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<std::size_t>(getpagesize()) + more;
  const rlimit limit{bytes, bytes};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
}

void fill_until_refused() {
  limit_memory(64u << 20);
  slab<record> s;
  std::size_t n = 0;
  while (n < 2'000'000 && s.allocate_raw() != nullptr) ++n;
  if (n < 300'000 || n == 2'000'000 || n != s.count()) _exit(3);
  if (s.allocate_raw() != nullptr) _exit(4);
  s.release_all();
  _exit(s.allocate_raw() != nullptr ? 0 : 5);
}

TEST(SlabDeathTest, RefusedMemoryGivesNullAndReleaseHeals) {
  if (kSanitized) GTEST_SKIP() << "address space cannot be limited under sanitizers";
  EXPECT_EXIT(fill_until_refused(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace vole::base
