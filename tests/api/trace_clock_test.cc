// A trace is put in order by its numbers, not by clocks: with each thread's clock set wrong, by a
// millisecond forwards or backwards, every goroutine and every P still has the same story.

#include <vole/vole.h>

#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "fixture.h"
#include "trace/order.h"
#include "trace/reader.h"
#include "trace_file.h"

namespace {

using namespace std::chrono_literals;
using vole_test::expect_good;
using vole_test::scratch;
namespace trace = vole::trace;

class TraceClock : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, TraceClock, testing::Values(1, 2, 4), vole_test::procs_name);

// What happened to each goroutine and to each P, one after the other, without times.
class stories final : public vole_trace::listener {
 public:
  void on(const vole_trace::change& c) override {
    of_g[{generation, c.g}].emplace_back(static_cast<int>(c.to), static_cast<int>(c.why), c.thread,
                                         c.p, c.place, c.by);
    is_in_time &= c.time >= last;
    last = c.time;
  }
  void on(const vole_trace::p_change& c) override {
    of_p[{generation, c.p}].emplace_back(c.thread, c.stolen, c.from);
  }
  void on(const vole_trace::remark& r) override {
    of_task[{generation, r.task}].emplace_back(r.type, r.g, std::string(r.name),
                                               std::string(r.text));
  }

  template <class Key, class... What>
  using by = std::map<std::pair<std::uint32_t, Key>, std::vector<std::tuple<What...>>>;
  using n = std::uint32_t;

  by<n, int, int, n, n, n, n> of_g;
  by<n, n, bool, n> of_p;
  by<std::uint64_t, int, n, std::string, std::string> of_task;
  std::uint32_t generation = 0;
  bool is_in_time = true;
  double last = 0;
};

stories told_by(const std::vector<std::uint8_t>& content) {
  stories told;
  vole_trace::trace_file file = vole_trace::read_file({content.data(), content.size()});
  vole_trace::check(file);  // says which generations cannot be read
  vole_trace::place_table places;
  for (const vole_trace::generation& g : file.generations) {
    if (!g.trouble.empty()) continue;
    told.generation = g.number;
    told.last = 0;
    const vole_trace::scan s = vole_trace::scan_generation(file.content, g, places);
    vole_trace::put_in_order(s, &told);
  }
  return told;
}

// Every chunk of events says when it begins: that, plus so many ticks for threads of odd number, minus
// as many for the others. What is inside counts from there.
std::vector<std::uint8_t> with_clocks_wrong_by(std::vector<std::uint8_t> content,
                                               std::int64_t ticks) {
  const vole_trace::trace_file file = vole_trace::read_file({content.data(), content.size()});
  for (const vole_trace::generation& g : file.generations)
    for (const auto& [thread, chunks] : g.threads)
      for (const vole_trace::chunk& c : chunks) {
        std::int64_t at;
        std::memcpy(&at, content.data() + c.at + 32, sizeof at);
        at += thread % 2 != 0 ? ticks : -ticks;
        std::memcpy(content.data() + c.at + 32, &at, sizeof at);
      }
  return content;
}

void work() {
  vole::chan<int> values, done(8);
  vole::wait_group all;
  for (int i = 0; i < 4; ++i)
    all.go([=] {
      for (int k = 0; k < 100; ++k) {
        values.send(k);
        if (k % 10 == 0) vole::yield();
      }
    });
  for (int i = 0; i < 4; ++i)
    all.go([=] {
      const trace::task job("a job");
      for (int k = 0; k < 100; ++k) (void)values.recv();
      job.log("progress", "done");
    });
  all.go([] {
    for (int i = 0; i < 5; ++i) {
      vole::sleep_for(100us);
      vole::blocking([] { std::this_thread::sleep_for(100us); });
    }
  });
  all.wait();
}

TEST_P(TraceClock, WrongClocksChangeNoStory) {
  const scratch file("clocks.trace");
  run([&] {
    trace::start(file.path());
    work();
    trace::stop();
  });
  expect_good(file.path());
  const std::vector<std::uint8_t> whole = vole_trace::load(file.path());
  const stories right = told_by(whole);
  EXPECT_GT(right.of_g.size(), 9u);
  constexpr std::int64_t kMillisecond = 1'000'000 / 2;  // a tick is 2 to 4 ns: at least one
  for (const std::int64_t ticks : {kMillisecond, -kMillisecond, 100 * kMillisecond}) {
    const std::vector<std::uint8_t> skewed = with_clocks_wrong_by(whole, ticks);
    EXPECT_EQ(vole_trace::check({whole.data(), whole.size()}),
              vole_trace::check({skewed.data(), skewed.size()}))
        << ticks;
    const stories wrong = told_by(skewed);
    EXPECT_TRUE(wrong.is_in_time) << ticks;
    // Not EXPECT_EQ, which would print them.
    EXPECT_TRUE(right.of_g == wrong.of_g) << ticks << ": a goroutine has another story";
    EXPECT_TRUE(right.of_p == wrong.of_p) << ticks << ": a P has another story";
    EXPECT_TRUE(right.of_task == wrong.of_task) << ticks << ": a task has another story";
  }
}

// A trace of three runtimes, cut into its generations: each of them is a trace by itself.
TEST_P(TraceClock, EachGenerationStandsAlone) {
  const scratch file("alone.trace");
  trace::start(file.path());
  for (int i = 0; i < 3; ++i) vole::run([] { work(); });
  trace::stop();
  const std::vector<std::uint8_t> whole = vole_trace::load(file.path());
  std::map<std::uint32_t, std::vector<std::uint8_t>> alone;
  for (std::size_t at = vole_trace::kFileHeader; at < whole.size();) {
    std::uint32_t size, generation;
    std::memcpy(&size, whole.data() + at + 4, sizeof size);
    std::memcpy(&generation, whole.data() + at + 8, sizeof generation);
    const std::size_t end = at + vole_trace::kChunkHeader + size;
    std::vector<std::uint8_t>& part = alone[generation];
    if (part.empty()) part.assign(whole.begin(), whole.begin() + vole_trace::kFileHeader);
    part.insert(part.end(), whole.begin() + static_cast<std::ptrdiff_t>(at),
                whole.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
  }
  alone.erase(0);
  EXPECT_GE(alone.size(), 3u);
  for (const auto& [generation, part] : alone)
    for (const std::string& trouble : vole_trace::check({part.data(), part.size()}))
      ADD_FAILURE() << "generation " << generation << ": " << trouble;
}

}  // namespace
