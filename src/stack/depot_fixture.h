// The fixture of the depot's tests: every test leaves an empty depot behind.
//
// Who    depot_test.cc, depot_guard_test.cc.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <vector>

#include "arch/sanitizer.h"
#include "os/os.h"
#include "stack/depot.h"

namespace vole::rt {

using arch::kSanitized;
inline constexpr std::size_t kSize = 256 * 1024;

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

inline std::vector<stack> take(std::size_t bytes, std::size_t n) {
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
inline void put(const std::vector<stack>& all) { depot::put(all.data(), all.size()); }

inline stack take_one(std::size_t bytes) {
  stack s;
  int error = 0;
  EXPECT_EQ(depot::take(bytes, &s, 1, &error), 1u) << os::error_text(error);
  return s;
}

inline void touch(const stack& s) { s.lo[s.bytes - 1] = std::byte{1}; }

inline std::size_t resident(const stack& s) {
  std::vector<unsigned char> pages(s.bytes / os::page_size());
  EXPECT_EQ(mincore(s.lo, s.bytes, pages.data()), 0);
  std::size_t n = 0;
  for (const unsigned char p : pages) n += p & 1;
  return n;
}

}  // namespace vole::rt
