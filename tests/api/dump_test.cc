// What a dump says: who waits where, for what, how many of them, and who made them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>
#include <set>
#include <sstream>

#include <vole/vole.h>

#include "fixture.h"
#include "parked.h"

namespace vole_test {
namespace {

using namespace vole;

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string dumped(dump_format format) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = open_memstream(&text, &size);
  dump_goroutines(out, format);
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

[[gnu::noinline]] int reads_jobs(const chan<int>& jobs) {
  const int got = jobs.recv().value_or(-1);
  asm volatile("" ::: "memory");  // no tail call
  return got;
}

[[gnu::noinline]] void takes_lock(mutex& m) {
  m.lock();
  m.unlock();
  asm volatile("" ::: "memory");
}

class Dump : public Runtime {};

TEST_P(Dump, ManyInOnePlaceAreOneBlock) {
  run([] {
    const chan<int> jobs;
    wait_group all;
    for (int i = 0; i < 500; ++i) all.go([jobs] { reads_jobs(jobs); });
    wait_until_parked(500, "chan receive");
    const std::string text = dumped(dump_format::text);
    EXPECT_THAT(text, ContainsRegex("\n500 goroutines \\([0-9, .]+\\) \\[waiting, chan receive"));
    EXPECT_THAT(text, HasSubstr("reads_jobs("));
    EXPECT_LT(text.size(), 4000u) << text;
    jobs.close();
    all.wait();
  });
}

TEST_P(Dump, NamesTheFunctionAndWhereItWasMade) {
  run([] {
    mutex m;
    m.lock();
    wait_group all;
    all.go({.name = "locksmith"}, [&] { takes_lock(m); });
    wait_until_parked(1, "mutex");
    const std::string text = dumped(dump_format::text);
    EXPECT_THAT(text,
                ContainsRegex("\ngoroutine [0-9]+ \\(locksmith\\) \\[waiting, mutex.*\\]:\n"));
    EXPECT_THAT(text, ContainsRegex("takes_lock\\(vole::mutex&\\)"));
    EXPECT_THAT(text, ContainsRegex("created by goroutine [0-9]+ in .*NamesTheFunction"));
    EXPECT_THAT(text, Not(HasSubstr("vole::detail::"))) << "vole's own frames are left out";
    m.unlock();
    all.wait();
  });
}

TEST_P(Dump, TheCallerRuns) {
  run([] {
    const std::string text = dumped(dump_format::text);
    EXPECT_THAT(text, ContainsRegex("^goroutine [0-9]+ \\(main\\) \\[running\\]:\n")) << text;
    EXPECT_THAT(text, HasSubstr("TheCallerRuns"));
  });
}

TEST_P(Dump, RecordsHoldTheSame) {
  run([] {
    const chan<int> jobs;
    spawn([] {}).join();
    wait_group all;
    all.go({.name = "reader"}, [jobs] { reads_jobs(jobs); });
    wait_until_parked(1, "chan receive");
    bool found = false;
    for (const goroutine_info& g : goroutines()) {
      EXPECT_NE(g.id, 0u);
      if (g.name != "reader") continue;
      found = true;
      EXPECT_EQ(g.parent, goroutine_id());
      EXPECT_EQ(g.status, "waiting");
      EXPECT_EQ(g.wait_reason, "chan receive");
      EXPECT_NE(g.object, nullptr);
      EXPECT_GE(g.waiting.count(), 0);
      ASSERT_FALSE(g.stack.empty());
      bool reads = false;
      for (const frame& f : g.stack) reads |= f.function.find("reads_jobs(") != std::string::npos;
      EXPECT_TRUE(reads);
      EXPECT_NE(g.created_at.function.find("RecordsHoldTheSame"), std::string::npos)
          << g.created_at.function;
    }
    EXPECT_TRUE(found);
    jobs.close();
    all.wait();
  });
}

TEST_P(Dump, JsonIsOneArrayWithEscapes) {
  run([] {
    const chan<int> jobs;
    wait_group all;
    all.go({.name = "quo\"te\\\n"}, [jobs] { reads_jobs(jobs); });
    wait_until_parked(1, "chan receive");
    const std::string text = dumped(dump_format::json);
    EXPECT_THAT(text, ContainsRegex("^\\[\n\\{\"id\":"));
    EXPECT_THAT(text, HasSubstr("\"name\":\"quo\\\"te\\\\\\u000a\""));
    EXPECT_THAT(text, HasSubstr("\"wait_reason\":\"chan receive\""));
    EXPECT_EQ(text.substr(text.size() - 3), "\n]\n");
    jobs.close();
    all.wait();
  });
}

TEST(DumpOutside, WithoutARuntimeThereIsNobody) {
  EXPECT_EQ(dumped(dump_format::text), "");
  EXPECT_EQ(dumped(dump_format::json), "[\n]\n");
  EXPECT_TRUE(goroutines().empty());
}

TEST(Metrics, EveryLineIsACommentOrANumber) {
  vole::run([] {
    const std::string text = metrics();
    EXPECT_THAT(text, HasSubstr("# TYPE vole_goroutines gauge\nvole_goroutines 1\n"));
    EXPECT_THAT(text, HasSubstr("# TYPE vole_steals_total counter\n"));
    EXPECT_THAT(text, ContainsRegex("\nvole_procs [1-9]"));
    EXPECT_THAT(text, HasSubstr("# TYPE vole_blocking_threads gauge\nvole_blocking_threads 0\n"));
  });
}

// Each field of stats() is there, in three lines: a field more, and this does not compile.
TEST(Metrics, HaveAllOfStatsInValidLines) {
  [[maybe_unused]] const auto [procs, idle_procs, threads, idle_threads, spinning, zombies, blocking, goroutines_,
              global, local, spawned, finished, switches, steals, stolen, overflows, hand_offs,
              preemptions, evictions, waits, migrations, in_use, free_stacks, returned] = stats();
  constexpr std::size_t kFields = 24;
  std::istringstream text(metrics());
  std::set<std::string> names;
  std::string help, type, value;
  while (std::getline(text, help) && std::getline(text, type) && std::getline(text, value)) {
    const std::string name = value.substr(0, value.find(' '));
    EXPECT_THAT(name, testing::MatchesRegex("vole_[a-z_]+"));
    EXPECT_THAT(help, testing::StartsWith("# HELP " + name + " "));
    EXPECT_TRUE(type == "# TYPE " + name + " gauge" || type == "# TYPE " + name + " counter") << type;
    EXPECT_EQ(type.ends_with("counter"), name.ends_with("_total")) << name;
    EXPECT_THAT(value, testing::MatchesRegex("vole_[a-z_]+ [0-9]+"));
    names.insert(name);
  }
  EXPECT_EQ(names.size(), kFields);
}

VOLE_AT_1_2_4_PROCS(Dump);

}  // namespace
}  // namespace vole_test
