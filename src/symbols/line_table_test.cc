// Every frame of a rich stack: function and line are those that addr2line gives, inlined functions
// included.

#include "symbols/line_table.h"

#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "symbols/names.h"
#include "symbols/symbols.h"

namespace vole::symbols {
namespace {

using pcs = std::vector<std::uintptr_t>;

[[gnu::noinline]] pcs stack_here() {
  pcs all;
  _Unwind_Backtrace(
      [](_Unwind_Context* c, void* to) {
        static_cast<pcs*>(to)->push_back(static_cast<std::uintptr_t>(_Unwind_GetIP(c)) - 1);
        return _URC_NO_REASON;
      },
      &all);
  return all;
}

// Something of everything that has a name of its own.
struct shop {
  pcs open() const { return stack_here(); }
  virtual pcs sell() { return open(); }
  virtual ~shop() = default;
  static pcs close(shop& s) { return s.sell(); }
};
template <class T, int N>
struct shelf : shop {
  pcs sell() override { return count(T{}); }
  [[gnu::always_inline]] inline pcs count(T) const {
    return through([this] { return open(); });
  }
  template <class F>
  static pcs through(F f) {
    return f();
  }
};
pcs by_a_sort() {
  pcs found;
  std::array<int, 3> some{3, 1, 2};
  std::sort(some.begin(), some.end(), [&](int a, int b) {
    if (found.empty()) found = stack_here();
    return a < b;
  });
  return found;
}
pcs by_a_function(int depth) {
  const std::function<pcs(int)> next = [&](int n) {
    return n == 0 ? stack_here() : by_a_function(n - 1);
  };
  return next(depth);
}

struct answer {
  std::string function;
  int line = 0;
};

std::vector<answer> ours(std::uintptr_t pc) {
  std::vector<answer> all;
  look_up(
      pc,
      [](const place& p, void* to) noexcept {
        static_cast<std::vector<answer>*>(to)->push_back(
            {p.function != nullptr ? readable(p.function) : "", p.line});
      },
      &all);
  return all;
}

std::vector<answer> addr2lines(std::uintptr_t offset) {
  char command[128];
  std::snprintf(command, sizeof command, "addr2line -f -i -e /proc/%d/exe 0x%lx", getpid(),
                static_cast<unsigned long>(offset));
  std::vector<answer> all;
  std::FILE* const out = popen(command, "r");
  char name[4096], where[4096];
  while (std::fgets(name, sizeof name, out) != nullptr &&
         std::fgets(where, sizeof where, out) != nullptr) {
    std::string function = name;
    function.pop_back();
    const char* const colon = std::strrchr(where, ':');
    all.push_back({readable(function.c_str()), colon != nullptr ? std::atoi(colon + 1) : 0});
  }
  EXPECT_EQ(pclose(out), 0) << command;
  return all;
}

// Those of this program that addr2line knows. Returns how many.
int compare(const pcs& stack) {
  int compared = 0;
  for (const std::uintptr_t pc : stack) {
    const module_place in = module_of(pc);
    if (in.name != "program") continue;
    const std::vector<answer> theirs = addr2lines(in.offset), mine = ours(pc);
    if (theirs.empty() || theirs.front().line == 0) continue;
    EXPECT_EQ(mine.size(), theirs.size()) << theirs.front().function;
    for (std::size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
      // With several, addr2line gives the innermost the name of the one that holds them all.
      if (theirs.size() == 1) {
        EXPECT_EQ(mine[i].function, theirs[i].function);
      }
      EXPECT_EQ(mine[i].line, theirs[i].line) << mine[i].function;
    }
    ++compared;
  }
  return compared;
}

TEST(Lines, EveryFrameIsAddr2lines) {
  shelf<std::string, 7> s;
  EXPECT_GE(compare(shop::close(s)), 3);
  EXPECT_GE(compare(by_a_sort()), 3);
  EXPECT_GE(compare(by_a_function(2)), 3);
}

TEST(Lines, ADamagedTableGivesNoAnswer) {
  line_place found;
  EXPECT_FALSE(line_in({}, 0x1000, &found));
  // Each byte of a short table in turn is another one: no answer, or one, but never a crash.
  std::string table(
      "\x2c\0\0\0\x03\0\x1a\0\0\0\x01\x01\xfb\x0e\x0d\0\x01\x01\x01\x01\0\0\0\x01\0\0\x01"
      "\0a.c\0\0\0\0\0\0\x09\x02\0\x10\0\0\0\0\0\0\x18\x02\x05\0\x01\x01",
      57);
  for (std::size_t i = 0; i < table.size(); ++i)
    for (const char other : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string damaged = table;
      damaged[i] = other;
      for (const std::size_t cut : {damaged.size(), i})
        line_in({std::string_view(damaged).substr(0, cut), {}, {}}, 0x1002, &found);
    }
}

}  // namespace
}  // namespace vole::symbols
