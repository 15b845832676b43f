// Cores that are whole, cut at every length, and damaged at every byte.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "../../../tests/tools/synthetic_core.h"
#include "../refusal.h"
#include "picture.h"

namespace vole_command::outside {
namespace {

bytes_view view(const std::vector<char>& v) { return std::as_bytes(std::span(v)); }

picture read_all(const std::vector<char>& core) {
  const auto t = target::of_core_bytes(view(core), "it");
  found_root root;
  if (!read_root(t->mem(), synthetic::kRoot, "it", &root)) throw refusal("no root");
  return take_picture(*t, root);
}

// True: something was read. False: refused, with a sentence.
bool is_read(const std::vector<char>& core) {
  try {
    read_all(core);
    return true;
  } catch (const refusal& r) {
    EXPECT_STRNE(r.what(), "");
    return false;
  }
}

TEST(CoreReader, WholeCoreGivesItsGoroutines) {
  const picture p = read_all(synthetic::core());
  ASSERT_EQ(p.goroutines.size(), 2u);
  EXPECT_EQ(p.goroutines[0].id, 1u);
  EXPECT_EQ(p.goroutines[0].status, kWaiting);
  EXPECT_EQ(p.goroutines[0].name, "drinker");
  EXPECT_EQ(p.goroutines[0].copy_from, synthetic::kStack + 0x800);
  EXPECT_EQ(p.goroutines[0].copy_bytes, 0x800u);
  EXPECT_EQ(p.goroutines[1].status, kRunnable);
  EXPECT_EQ(p.goroutines[1].copy, nullptr);
  ASSERT_EQ(p.machines.size(), 1u);
  EXPECT_EQ(p.machines[0].tid, 7u);
  EXPECT_EQ(p.processors.size(), 1u);
  EXPECT_EQ(p.sum.procs, 1u);
}

TEST(CoreReader, CutAtEveryLengthIsReadOrRefused) {
  const std::vector<char> whole = synthetic::core();
  std::size_t read = 0;
  for (std::size_t n = 0; n < whole.size(); n += n < 4096 ? 1 : 61)
    read += is_read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)}) ? 1u : 0u;
  EXPECT_GT(read, 0u);
}

TEST(CoreReader, DamagedAtEveryByteIsReadOrRefused) {
  const std::vector<char> whole = synthetic::core();
  for (std::size_t at = 0; at < whole.size(); at += at < 8192 ? 1 : 7)
    for (const int value : {0x00, 0x7f, 0xff}) {
      std::vector<char> damaged = whole;
      damaged[at] = static_cast<char>(value);
      is_read(damaged);
    }
}

// Every number of the root that says where something is, near 2^32 and near the end of its record.
TEST(CoreReader, OffsetsAtTheirLimitsAreReadOrRefused) {
  const std::vector<char> whole = synthetic::core();
  const std::size_t root = whole.size() - synthetic::kBytes;
  for (std::size_t at = offsetof(vole::root::table, slab); at < offsetof(vole::root::table, frame_bytes);
       at += 4)
    for (const std::uint32_t value :
         {0xffffff00u, 0xfffffff7u, 0xfffffff8u, 0xfffffff9u, 0xfffffffau, 0xfffffffbu, 0xfffffffcu,
          0xfffffffdu, 0xfffffffeu, 0xffffffffu, 0x80000000u, 0x7fffffffu, 248u, 249u, 255u, 256u}) {
      std::vector<char> damaged = whole;
      std::memcpy(damaged.data() + root + at, &value, sizeof value);
      is_read(damaged);
    }
}

TEST(CoreReader, RecordsThatAreNotThereCostNoMemory) {
  std::vector<char> core = synthetic::core();
  const std::size_t memory = core.size() - synthetic::kBytes;
  const std::uint32_t largest = 1 << 30;
  std::memcpy(core.data() + memory + offsetof(vole::root::table, slab) +
                  offsetof(vole::root::slab_places, largest),
              &largest, sizeof largest);
  const std::uint64_t used = (1 << 30) / 256;
  std::memcpy(core.data() + memory + (synthetic::kChunks + 8 - synthetic::kBase), &used, sizeof used);
  EXPECT_EQ(read_all(core).goroutines.size(), 0u);
}

TEST(CoreReader, FileThatIsCutWhileItIsReadIsASentence) {
  char path[] = "/tmp/vole_cut_XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, 1 << 16), 0);
  const mapped_file file{std::string(path)};
  unlink(path);
  ASSERT_EQ(ftruncate(fd, 0), 0);
  EXPECT_EXIT(std::exit(static_cast<int>(file.bytes()[5000])), testing::ExitedWithCode(2),
              "became shorter while it was read");
  close(fd);
}

TEST(CoreReader, ChunksInACircleEnd) {
  std::vector<char> core = synthetic::core();
  const std::size_t memory = core.size() - synthetic::kBytes;
  const std::uint64_t next = synthetic::kChunks;  // the chunk itself
  std::memcpy(core.data() + memory + (synthetic::kChunks - synthetic::kBase), &next, sizeof next);
  EXPECT_EQ(read_all(core).goroutines.size(), 2u);
}

TEST(CoreReader, AnotherVersionOfTheRootIsRefusedByName) {
  std::vector<char> core = synthetic::core();
  core[core.size() - synthetic::kBytes + 8] = 77;
  try {
    read_all(core);
    FAIL();
  } catch (const refusal& r) {
    EXPECT_NE(std::string(r.what()).find("version 77"), std::string::npos) << r.what();
  }
}

}  // namespace
}  // namespace vole_command::outside
