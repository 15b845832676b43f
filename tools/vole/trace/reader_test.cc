// The reader on traces whose totals are known, on orders that do not exist, and on damaged files.
#include "trace/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "../../../tests/tools/trace_writer.h"
#include "trace/function_name.h"
#include "trace/summary.h"

namespace vole_trace {
namespace {

using synthetic_trace::busy_generation;
using synthetic_trace::small;
using synthetic_trace::stream;
using synthetic_trace::trace;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bytes of(const std::string& s) {
  return {reinterpret_cast<const std::uint8_t*>(s.data()), s.size()};
}

// All that is wrong with it, in one line; what is thrown included.
std::string verdict(const std::string& content) {
  std::string all;
  try {
    for (const std::string& problem : check(of(content))) all += problem + " ";
  } catch (const damaged& why) {
    all = why.what();
  }
  return all;
}

double total(const summary& s, state what) {
  double ns = 0;
  for (const function_sum& f : s.functions) ns += f.ns[static_cast<std::size_t>(what)];
  return ns;
}

TEST(Reader, ASmallTraceHasTheTotalsItWasWrittenWith) {
  const std::string content = small().file();
  EXPECT_EQ(verdict(content), "");
  const trace_file file = read_file(of(content));
  const summary s = summarise(file);
  EXPECT_EQ(s.all.goroutines.size(), 3U);
  // 1: 0-4 and 19.5-20; 2: 4-12 and 15.5-16; 3: 3-6, 12-13 and 17-18
  EXPECT_DOUBLE_EQ(total(s, state::running), 4500 + 8500 + 3000 + 1000 + 1000);
  EXPECT_DOUBLE_EQ(total(s, state::runnable), 500 + 3000 + 3500 + 1000 + 2000);
  EXPECT_DOUBLE_EQ(total(s, state::waiting), 15000 + 4000);
  EXPECT_DOUBLE_EQ(total(s, state::call), 3500);
  EXPECT_DOUBLE_EQ(total(s, state::evicted), 500);
  EXPECT_DOUBLE_EQ(s.lifetimes, 20000 + 15000 + 16000);
  EXPECT_EQ(s.taken, 1U);
  EXPECT_EQ(s.taken_from_calls, 1U);
  EXPECT_EQ(s.wakes.size(), 2U);
}

TEST(Reader, GenerationsAreJoined) {
  trace t;
  for (std::uint64_t i = 0; i < 3; ++i) busy_generation(t, 1000 + i * 20000);
  const std::string content = t.file();
  EXPECT_EQ(verdict(content), "");
  const summary s = summarise(read_file(of(content)));
  EXPECT_DOUBLE_EQ(s.all.duration, 60000);
  EXPECT_EQ(s.all.goroutines.size(), 7U);
  double sum = 0;
  for (std::size_t i = 0; i < kStates; ++i) sum += total(s, static_cast<state>(i));
  EXPECT_DOUBLE_EQ(sum, s.lifetimes);
}

TEST(Reader, ADamagedGenerationAmongOthersIsLeftOut) {
  trace t;
  for (std::uint64_t i = 0; i < 3; ++i) busy_generation(t, 1000 + i * 20000);
  std::string content = t.file();
  content[content.size() / 2] ^= 0x40;
  EXPECT_THAT(verdict(content), HasSubstr("Generation 2 cannot be read"));
  const summary s = summarise(read_file(of(content)));
  EXPECT_EQ(s.all.generations, 2U);
  EXPECT_EQ(s.all.gaps.size(), 1U);
  EXPECT_GT(total(s, state::unknown), 0);
}

TEST(Reader, LostEventsAreSaid) {
  trace t;
  busy_generation(t, 1000);
  t.begin(21000);
  t.end(22000, 17);
  EXPECT_THAT(verdict(t.file()), HasSubstr("17 events were lost"));
}

TEST(Reader, TheLastGenerationOfAnUnfinishedFileNeedsNoEnd) {
  trace t;
  busy_generation(t, 1000, false);
  EXPECT_THAT(verdict(t.file()), HasSubstr("its end is missing"));
  EXPECT_EQ(verdict(t.file(kUnfinished)), "");
}

TEST(Reader, WhatIsNoTraceIsNamed) {
  EXPECT_EQ(verdict(""), "The file is empty.");
  EXPECT_EQ(verdict("#!/bin/sh\n"), "This is not a vole trace.");
  EXPECT_EQ(verdict("VOLETRC\n"), "The file ends within its header.");
  EXPECT_THAT(verdict(synthetic_trace::file_header(0, "VOLETRC\n", 2)), HasSubstr("version 2"));
  EXPECT_THAT(verdict(synthetic_trace::file_header(0, "VOLERNG\n")), HasSubstr("recover"));
  EXPECT_EQ(verdict(synthetic_trace::file_header()), "The trace has no events. ");
}

TEST(Reader, UnknownChunksArePassedOver) {
  trace t = small();
  t.chunks.push_back(synthetic_trace::chunk_bytes({99, 1}, "later"));
  EXPECT_EQ(verdict(t.file()), "");
}

// Thread 1 has P 0; place 1 is a function, 2 a wait.
std::string broken(const std::function<void(stream&, trace&)>& write) {
  trace t;
  t.begin(0, 1);
  stream& s = t.on(1);
  s.event(3, 0).v(1).v(1).g(0).v(0);
  s.event(1, 0).v(0).v(1).v(4096);
  s.event(1, 0).v(1).v(1).v(8192);
  write(s, t);
  t.end(1000);
  return verdict(t.file());
}

TEST(Order, WhatCannotHaveHappenedIsRefused) {
  const auto make = [](stream& s) { s.event(9, 1).g(5).v(1).v(0); };
  const auto run = [](stream& s, unsigned seq) { s.event(11, 2).g(5).n(seq); };
  struct {
    std::function<void(stream&, trace&)> write;
    const char* words;
  } const kCases[] = {
      {[&](stream& s, trace&) { make(s); }, ""},
      {[&](stream& s, trace&) { run(s, 1); }, "never introduced"},
      {[&](stream& s, trace&) { make(s), run(s, 3); }, "no order"},
      {[&](stream& s, trace&) { make(s), run(s, 1); }, "has had its event 1 already"},
      {[&](stream& s, trace&) { make(s), s.event(10, 2).g(5).n(2); }, "no order"},
      {[&](stream& s, trace&) { s.event(15, 1); }, "no goroutine"},
      {[&](stream& s, trace&) { make(s), make(s); }, "was there before"},
      {[&](stream& s, trace&) { s.event(6, 1).v(0).v(2); }, "has a P that nobody takes"},
      {[&](stream& s, trace&) { s.event(7, 1), s.event(6, 2).v(0).v(3); }, "needs P 0"},
      {[&](stream& s, trace&) { s.event(7, 1), s.event(6, 2).v(0).v(1); }, "already"},
      {[&](stream& s, trace&) { s.event(99, 1); }, "type 99"},
      {[&](stream& s, trace&) { s.event(30, 1).v(9); }, "place 9 was never defined"},
      {[&](stream& s, trace&) { s.event(50, 1).v(9); }, "string 9 was never defined"},
      {[&](stream& s, trace&) { make(s), run(s, 2), s.event(31, 3); }, "never began"},
      {[&](stream& s, trace&) { make(s), run(s, 2), s.event(30, 3).v(1), s.event(12, 4).v(2); },
       "in a call"},
      {[&](stream& s, trace&) { make(s), run(s, 2), run(s, 3); }, "two goroutines"},
      {[&](stream& s, trace&) { make(s), run(s, 2), s.event(16, 3); }, "nobody takes"},
      {[&](stream&, trace& t) { t.on(0).event(11, 1).g(5).n(1); }, "thread 0 is no M"},
      {[&](stream&, trace& t) { t.on(2).event(7, 1); }, "no first event"},
      {[&](stream&, trace& t) { t.on(2).event(3, 1).v(1).v(1).g(0).v(0); }, "two threads"},
      {[&](stream& s, trace&) { s.event(25, 1); }, "none was"},
      {[&](stream& s, trace&) { s.event(4, 1).g(5).v(1).v(0).v(0).v(1).v(0); }, "on no thread"},
      {[&](stream& s, trace&) { s.event(4, 1).g(5).v(9).v(0).v(0).v(1).v(0); }, "state 9"},
      {[&](stream&, trace& t) { t.on(0).event(8, 1).v(0).v(1).v(7).v(0); }, "which there is not"},
      {[&](stream&, trace& t) { t.on(0).event(8, 1).v(0).v(1).v(1).v(99); },
       "more events of thread 1"},
      {[&](stream&, trace& t) { t.on(0).event(8, 1).v(70000).v(1).v(1).v(0); },
       "there is a P 70000"},
  };
  for (const auto& c : kCases) {
    const std::string said = broken(c.write);
    if (*c.words == '\0') {
      EXPECT_EQ(said, "");
    } else {
      EXPECT_THAT(said, HasSubstr(c.words));
    }
  }
}

// Each event in turn is left out, with counts as if it had never been. Definitions count too:
// without one, places have other numbers, which the reader cannot know.
TEST(Order, ATraceWithOneNumberedEventLeftOutIsRefused) {
  const auto without = [](int left_out) {
    trace t;
    t.begin(0, 1);
    stream& s = t.on(1);
    s.event(3, 0).v(1).v(1).g(0).v(0);
    s.event(1, 0).v(0).v(1).v(4096);
    s.event(1, 0).v(1).v(1).v(8192);
    if (left_out != 0) s.event(9, 1).g(5).v(1).v(0);
    if (left_out != 1) s.event(11, 2).g(5).n(2);
    if (left_out != 2) s.event(12, 3).v(2);
    if (left_out != 3) s.event(10, 4).g(5).n(3);
    if (left_out != 4) s.event(11, 5).g(5).n(4);
    if (left_out != 5) s.event(15, 6);
    t.end(1000);
    return verdict(t.file());
  };
  EXPECT_EQ(without(-1), "");
  for (int i = 0; i < 5; ++i) EXPECT_NE(without(i), "") << i;
}

TEST(Order, ClocksThatDifferChangeNothing) {
  // Thread 2 runs what thread 1 made, by a clock that is a millisecond behind.
  trace t;
  t.begin(5'000'000);
  stream &a = t.on(1), &b = t.on(2);
  a.event(3, 6'000'000).v(1).v(1).g(0).v(0);
  a.event(1, 6'000'000).v(0).v(1).v(4096);
  a.event(9, 6'000'100).g(5).v(1).v(0);
  b.event(3, 5'000'000).v(2).v(1).g(0).v(0);
  b.event(11, 5'000'200).g(5).n(2);
  b.event(15, 5'000'300);
  t.end(7'000'000);
  EXPECT_EQ(verdict(t.file()), "");
  const std::string content = t.file();
  const summary s = summarise(read_file(of(content)));
  EXPECT_DOUBLE_EQ(s.lifetimes, 0);
}

// Sentences of `vole trace` end with a full stop and have no line break.
void expect_sentences(const std::string& content) {
  std::vector<std::string> said;
  try {
    trace_file file = read_file(of(content));
    said = check(file);
    const summary s = summarise(file);
    text_of(file, s);
    json_of(file, s);
  } catch (const damaged& why) {
    said.emplace_back(why.what());
  }
  for (const std::string& sentence : said) {
    ASSERT_TRUE(sentence.ends_with('.') && sentence.find('\n') == std::string::npos) << sentence;
  }
}

TEST(Damage, AFileCutAnywhereIsASentenceOrShorter) {
  const std::string all = small().file();
  for (std::size_t n = 0; n < all.size(); ++n) expect_sentences(all.substr(0, n));
}

TEST(Damage, ABitFlippedAnywhereIsNoticedOrHarmless) {
  const std::string all = small().file();
  for (std::size_t i = 0; i < all.size() * 8; ++i) {
    std::string content = all;
    content[i / 8] = static_cast<char>(content[i / 8] ^ 1 << i % 8);
    expect_sentences(content);
  }
}

// With checksums made right again, so that the damage reaches the events.
TEST(Damage, EventsThatMakeNoSenseAreRefusedOrRead) {
  const trace whole = small();
  std::mt19937 random(7);
  for (int round = 0; round < 1500; ++round) {
    trace t = whole;
    std::string& chunk = t.chunks[random() % t.chunks.size()];
    for (auto k = 1 + random() % 3; k > 0; --k) {
      chunk[kChunkHeader + random() % (chunk.size() - kChunkHeader)] = static_cast<char>(random());
    }
    const std::uint32_t sum = synthetic_trace::checksum(chunk.substr(kChunkHeader));
    for (std::size_t i = 0; i < 4; ++i) chunk[44 + i] = static_cast<char>(sum >> 8 * i);
    expect_sentences(t.file(round % 2 == 0 ? 0 : kUnfinished));
  }
}

}  // namespace
TEST(FunctionName, IsTheUsersAndNotThatOfVoleAroundIt) {
  const struct {
    const char *name, *wanted;
  } cases[] = {
      {"vole::detail::run_main(void (*)(void*), void*)::{lambda#1}", "main"},
      {"vole::wait_group::done_after<(anonymous namespace)::many()::{lambda#1}>", "many::{lambda#1}"},
      {"vole::wait_group::done_after<vole::detail::bound_call<(anonymous namespace)::on_vole(char const*, "
       "int)::{lambda#1}::{lambda#1}, vole::net::conn>>",
       "on_vole::{lambda#1}::{lambda#1}"},
      {"vole::detail::joinable_task<void, main::{lambda#1}::{lambda#1}>::invoke(void*)",
       "main::{lambda#1}::{lambda#1}"},
      {"vole::group::member<vole::detail::bound_call<void (*)(vole::net::conn, vole::context const&), "
       "vole::net::conn, vole::context>>",
       ""},
      {"void (*)(vole::net::conn)", ""},
      {"server::worker(vole::chan<job>)", "server::worker"},
      {"main", "main"},
      {"std::vector<int> pool::operator()(int) const", "std::vector pool::operator() const"},
      {"bool operator<(a const&, b const&)", "bool operator<"},
      {"vole::wait_group::done_after<", ""},
      {"(not known)", "(not known)"},
      {"", ""},
  };
  for (const auto& each : cases) EXPECT_EQ(short_function(each.name), each.wanted) << each.name;
}

}  // namespace vole_trace
