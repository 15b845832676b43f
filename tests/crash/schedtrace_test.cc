// VOLE_DEBUG=schedtrace and scheddetail, and GODEBUG's: Go's format, and the numbers add up.

#include <cstdlib>
#include <map>
#include <regex>
#include <sstream>

#include "child.h"

namespace vole::crash_test {
namespace {

ended traced(const char* scenario, const std::string& variable) {
  return run_child("schedtrace_child", scenario, {"VOLE_MAXPROCS=4", variable});
}

// name=value, separated by blanks. A value may have blanks in parentheses.
using fields = std::map<std::string, std::string>;
fields fields_of(const std::string& line) {
  static const std::regex one("([a-z]+)=([^ (]*(?:\\([^)]*\\))?)");
  fields all;
  for (std::sregex_iterator it(line.begin(), line.end(), one), end; it != end; ++it)
    all[(*it)[1]] = (*it)[2];
  return all;
}
int number(const fields& f, const char* name) {
  const auto it = f.find(name);
  return it != f.end() ? std::atoi(it->second.c_str()) : -1;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

struct page {
  fields head;
  std::map<std::string, fields> p, m, g;  // by id
  unsigned long left_out = 0;
};

// The last one that is all there: another one follows.
page last_page(const std::string& text) {
  const std::size_t next = text.rfind("SCHED ");
  const std::size_t begin = text.rfind("SCHED ", next - 1);
  page all;
  for (const std::string& line : lines_of(text.substr(begin, next - begin))) {
    static const std::regex detail("  ([PMG])([0-9]+): .*");
    static const std::regex more("  and ([0-9]+) goroutines more");
    std::smatch what;
    if (std::regex_match(line, what, detail)) {
      auto& kind = what[1] == "P" ? all.p : what[1] == "M" ? all.m : all.g;
      EXPECT_TRUE(kind.emplace(what[2], fields_of(line)).second) << line;
    } else if (std::regex_match(line, what, more)) {
      all.left_out = std::stoul(what[1]);
    } else if (line.starts_with("SCHED ")) {
      all.head = fields_of(line);
    }
  }
  return all;
}

constexpr const char* kLine =
    "SCHED [0-9]+ms: maxprocs=4 idleprocs=[0-4] threads=[0-9]+ spinningthreads=[0-9]+ "
    "needspinning=[01] idlethreads=[0-9]+ runqueue=[0-9]+ \\[ ([0-9]+ ){4}\\] "
    "schedticks=\\[ ([0-9]+ ){4}\\] evicted=[0-9]+ readynext=[0-9]+";

void expect_lines(const ended& e) {
  EXPECT_TRUE(exited(e, 0));
  const std::vector<std::string> all = lines_of(e.out);
  EXPECT_GE(all.size(), 4u);
  for (const std::string& line : all)
    EXPECT_TRUE(std::regex_match(line, std::regex(kLine))) << line;
}

TEST(Schedtrace, PrintsALineOverAndOver) {
  expect_lines(traced("mixed", "VOLE_DEBUG=schedtrace=20"));
}

TEST(Schedtrace, IsReadFromGodebugToo) {
  expect_lines(traced("mixed", "GODEBUG=gctrace=1,schedtrace=20,scheddetail=x"));
}

TEST(Schedtrace, WithoutItNothingIsPrinted) {
  const ended e = run_child("environment_child", "goroutine", {"GODEBUG=gctrace=1"});
  EXPECT_TRUE(exited(e, 0));
  EXPECT_EQ(e.err, "");
}

int count_where(const std::map<std::string, fields>& all, const char* name, const char* value) {
  int n = 0;
  for (const auto& [id, f] : all) n += f.at(name) == value ? 1 : 0;
  return n;
}
int sum(const std::map<std::string, fields>& all, const char* name) {
  int n = 0;
  for (const auto& [id, f] : all) n += number(f, name);
  return n;
}

TEST(Schedtrace, DetailIsOfOneInstantAndAddsUp) {
  const ended e = traced("mixed", "VOLE_DEBUG=schedtrace=20,scheddetail=1");
  ASSERT_TRUE(exited(e, 0));
  const page all = last_page(e.out);
  EXPECT_EQ(all.head.at("gcwaiting"), "false");
  EXPECT_EQ(all.head.at("stopwait"), "0");
  EXPECT_EQ(all.head.at("sysmonwait"), "false");
  EXPECT_EQ(static_cast<int>(all.p.size()), number(all.head, "maxprocs"));
  EXPECT_EQ(count_where(all.p, "status", "idle"), number(all.head, "idleprocs"));
  EXPECT_EQ(static_cast<int>(all.m.size()), number(all.head, "threads"));
  EXPECT_GE(count_where(all.m, "blocked", "true"), number(all.head, "idlethreads"));
  EXPECT_EQ(sum(all.p, "readynext"), number(all.head, "readynext"));
  EXPECT_EQ(count_where(all.g, "status", "runnable()"),
            number(all.head, "runqueue") + sum(all.p, "runqsize") + sum(all.p, "readynext"));

  EXPECT_EQ(all.g.size(), 10u) << "main and nine others";
  EXPECT_EQ(count_where(all.g, "status", "waiting(chan receive)"), 5);
  EXPECT_EQ(count_where(all.g, "status", "waiting(sleep)"), 1);
  EXPECT_EQ(count_where(all.g, "status", "waiting(wait group)"), 2);
  EXPECT_EQ(count_where(all.g, "status", "syscall()"), 1);
  EXPECT_EQ(sum(all.p, "timerslen"), 1);
  // P, M and G name each other.
  for (const auto& [id, p] : all.p) {
    if (p.at("status") != "running") continue;
    EXPECT_EQ(all.m.at(p.at("m")).at("p"), id);
  }
  for (const auto& [id, g] : all.g) {
    const std::string on = g.at("m"), locked = g.at("lockedm");
    EXPECT_TRUE(on == "nil" || all.m.at(on).at("curg") == id) << id;
    EXPECT_TRUE(locked == "nil" || all.m.at(locked).at("lockedg") == id) << id;
  }
  EXPECT_EQ(count_where(all.m, "lockedg", "nil"), static_cast<int>(all.m.size()) - 1);
}

TEST(Schedtrace, IdleProgramPrintsAndSleeps) {
  for (const char* debug : {"VOLE_DEBUG=schedtrace=50", "VOLE_DEBUG=schedtrace=50,scheddetail=1"}) {
    const ended e = traced("idle", debug);
    ASSERT_TRUE(exited(e, 0));
    std::smatch share;
    ASSERT_TRUE(std::regex_search(e.out, share, std::regex("share ([0-9.]+)\n"))) << e.out;
    EXPECT_LT(std::stod(share[1]), 0.3) << "of the time between the lines";
  }
}

TEST(Schedtrace, GoroutinesThatDoNotFitAreCounted) {
  const ended e = traced("crowd", "VOLE_DEBUG=schedtrace=20,scheddetail=1");
  ASSERT_TRUE(exited(e, 0));
  const page all = last_page(e.out);
  EXPECT_GT(all.left_out, 0u);
  EXPECT_EQ(all.g.size() + all.left_out, 8001u);
}

}  // namespace
}  // namespace vole::crash_test
