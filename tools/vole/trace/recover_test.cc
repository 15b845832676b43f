// Rings as a killed process leaves them: overwritten, half written, torn at every byte.
#include "trace/recover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "../../../tests/tools/trace_writer.h"
#include "trace/reader.h"

namespace vole_trace {
namespace {

using synthetic_trace::busy_generation;
using synthetic_trace::trace;

constexpr std::size_t kSlot = 512;

bytes of(const std::string& s) {
  return {reinterpret_cast<const std::uint8_t*>(s.data()), s.size()};
}

// Slots in the order of the chunks; the checksums are 0, as in a ring.
std::string ring_of(const std::vector<std::string>& chunks) {
  std::string ring = synthetic_trace::file_header(0, "VOLERNG\n");
  synthetic_trace::buffer sizes;
  sizes.fixed(kSlot, 4).fixed(chunks.size(), 4);
  ring.replace(16, 8, sizes.bytes);
  ring.resize(4096);
  for (std::string slot : chunks) {
    slot.replace(44, 4, 4, '\0');
    slot.resize(kSlot, '\x55');
    ring += slot;
  }
  return ring;
}

trace three(bool last_has_end) {
  trace t;
  t.for_ring = true;
  for (std::uint64_t i = 0; i < 3; ++i) {
    busy_generation(t, 1000 + i * 20000, i < 2 || last_has_end);
  }
  t.names();
  return t;
}

// The recovered trace must pass the check. Returns how many generations there are; 0: a sentence.
std::uint64_t recover_and_check(const std::string& ring) {
  try {
    const recovered r = recover(of(ring));
    const auto problems = check(of(r.file));
    EXPECT_TRUE(problems.empty()) << problems.front();
    return r.generations;
  } catch (const damaged& why) {
    EXPECT_TRUE(std::string(why.what()).ends_with('.')) << why.what();
    return 0;
  }
}

TEST(Recover, AWholeRingIsAWholeTrace) {
  const recovered r = recover(of(ring_of(three(true).chunks)));
  EXPECT_EQ(r.generations, 3U);
  EXPECT_EQ(r.events, 93U);
  EXPECT_TRUE(r.left_out.empty());
  const trace_file file = read_file(of(r.file));
  EXPECT_EQ(file.flags, kRecovered);
  EXPECT_EQ(file.reasons.size(), 3U);
}

TEST(Recover, TheLastGenerationMayHaveNoEnd) {
  const recovered r = recover(of(ring_of(three(false).chunks)));
  EXPECT_EQ(r.generations, 3U);
  const trace_file file = read_file(of(r.file));
  EXPECT_EQ(file.flags, kRecovered | kUnfinished);
}

TEST(Recover, AGenerationOfWhichASlotWasOverwrittenIsLeftOut) {
  const trace t = three(false);
  for (std::size_t i = 0; i < t.chunks.size(); ++i) {
    std::vector<std::string> chunks = t.chunks;
    chunks[i] = std::string(48, '\0');
    const std::uint64_t left = recover_and_check(ring_of(chunks));
    EXPECT_GE(left, 2U) << i;
  }
}

TEST(Recover, AnEndThatWasNotWrittenYetIsTheNextBegin) {
  trace t;
  t.for_ring = true;
  busy_generation(t, 1000, false);
  busy_generation(t, 21000, false);
  const recovered r = recover(of(ring_of(t.chunks)));
  EXPECT_EQ(r.generations, 2U);
}

TEST(Recover, EventsThatTheHeaderDoesNotCountYetAreCounted) {
  trace t = three(false);
  for (std::string& c : t.chunks) {
    if (c[16] == 3) c[40] = static_cast<char>(c[40] - 1);
  }
  EXPECT_EQ(recover_and_check(ring_of(t.chunks)), 3U);
}

// The newest chunk of a thread ends anywhere, since the process was killed there.
TEST(Recover, AStreamCutAnywhereIsRecovered) {
  trace t;
  t.for_ring = true;
  busy_generation(t, 1000);
  busy_generation(t, 21000, false);
  const std::size_t newest = t.chunks.size() - 1;
  const std::string whole = t.chunks[newest];
  for (std::size_t n = 0; n + 48 <= whole.size(); ++n) {
    std::string& c = t.chunks[newest] = whole;
    c[4] = static_cast<char>(n);
    EXPECT_EQ(recover_and_check(ring_of(t.chunks)), 2U) << n;
  }
}

TEST(Recover, WhateverTheBytesAreTheOutcomeChecks) {
  const std::string whole = ring_of(three(false).chunks);
  std::mt19937 random(5);
  for (int round = 0; round < 1500; ++round) {
    std::string ring = whole;
    for (auto k = 1 + random() % 4; k > 0; --k) {
      const std::size_t at =
          random() % 4 == 0 ? random() % 32 : 4096 + random() % (ring.size() - 4096);
      ring[at] = static_cast<char>(random());
    }
    if (random() % 8 == 0) ring.resize(random() % ring.size());
    recover_and_check(ring);
  }
}

TEST(Recover, WhatIsNoRingIsNamed) {
  const auto said = [](const std::string& content) -> std::string {
    try {
      recover(of(content));
    } catch (const damaged& why) {
      return why.what();
    }
    return "";
  };
  EXPECT_EQ(said(""), "This is not a flight recorder's ring.");
  EXPECT_EQ(said(synthetic_trace::small().file()),
            "This is a trace already, not a flight recorder's ring.");
  EXPECT_EQ(said(ring_of({std::string(48, '\0')})), "The ring is empty.");
}

}  // namespace
}  // namespace vole_trace
