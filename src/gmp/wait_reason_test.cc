#include "gmp/wait_reason.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace vole::rt {
namespace {

// The line of docs/debugging.md that says what `waiting` may be followed by.
std::string waiting_row() {
  const std::string here = __FILE__;  // <root>/src/gmp/...
  std::ifstream page(here.substr(0, here.rfind("/src/")) + "/docs/debugging.md");
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("| waiting |")) return line;
  return {};
}

TEST(WaitReason, EachHasANameOfItsOwn) {
  std::set<std::string_view> seen;
  for (int i = 1; i < kWaitReasons; ++i) {
    const std::string_view name = name_of(static_cast<wait_reason>(i));
    EXPECT_FALSE(name.empty()) << i;
    EXPECT_TRUE(seen.insert(name).second) << name;
  }
}

TEST(WaitReason, EachIsExplainedInTheDocumentation) {
  const std::string row = waiting_row();
  ASSERT_NE(row, "");
  for (int i = 1; i < kWaitReasons; ++i) {
    const std::string name(name_of(static_cast<wait_reason>(i)));
    EXPECT_NE(row.find("*" + name + "*"), std::string::npos)
        << "docs/debugging.md does not say what it means to wait for: " << name;
  }
}

}  // namespace
}  // namespace vole::rt
