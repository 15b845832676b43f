// The main of every test program. A program holds the tests of many files; a ctest entry runs
// those of one.
//
//     api_tests                                 all of them; --gtest_filter and the like as ever
//     api_tests --file=tests/api/chan_test.cc   those that this file defines
//     api_tests --all-of=<list>                 runs none: is each test in exactly one listed file?
//
// Law    nothing is left out in silence: a file without a test, a test of a file that is not listed,
//        and two tests of one name are failures. And what a file does before main is not done to the
//        tests of others: if it changes the environment it must be alone.
// Note   a test is known by the file that the compiler names; that name may begin elsewhere than
//        ours, so their ends are compared.

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kRefused = 2;

struct test_case {
  std::string name;  // Suite.Name
  std::string file;
};

std::vector<test_case> all_tests() {
  std::vector<test_case> all;
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *program.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& one = *suite.GetTestInfo(j);
      all.push_back({std::string(suite.name()) + "." + one.name(), one.file()});
    }
  }
  return all;
}

bool defined_in(const test_case& test, const std::string& file) {
  return test.file == file || test.file.ends_with("/" + file);
}

// Before main the environment was what the kernel still shows.
bool environment_is_changed() {
  std::multiset<std::string> given, now;
  std::ifstream in("/proc/self/environ");
  for (std::string one; std::getline(in, one, '\0');) given.insert(one);
  for (char** e = environ; *e != nullptr; ++e) now.insert(*e);
  return given != now;
}

// A filter that was given, as death tests give one to themselves, narrows it further.
int run_file(const std::string& file) {
  std::string theirs, others;
  for (const test_case& test : all_tests())
    (defined_in(test, file) ? theirs : others) += test.name + ":";
  if (theirs.empty()) {
    std::fprintf(stderr, "%s: this program has no test of that file\n", file.c_str());
    return kRefused;
  }
  if (!others.empty() && environment_is_changed()) {
    std::fprintf(stderr, "a file sets a variable before main and shares its program (cmake/tests.cmake)\n");
    return kRefused;
  }
  std::string& filter = testing::GTEST_FLAG(filter);
  const bool has_exceptions = filter.find('-') != std::string::npos;
  filter = filter == "*" ? theirs : filter + (has_exceptions ? ":" : "-") + others;
  return RUN_ALL_TESTS();
}

int check(const std::vector<std::string>& files) {
  int wrong = files.empty() ? 1 : 0;
  const auto say = [&wrong](const std::string& what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    wrong = 1;
  };
  const std::vector<test_case> tests = all_tests();
  std::set<std::string> names, with_tests;
  for (const test_case& test : tests) {
    if (!names.insert(test.name).second) say(test.name + ": two tests have this name");
    int found = 0;
    for (const std::string& file : files) {
      if (!defined_in(test, file)) continue;
      with_tests.insert(file);
      ++found;
    }
    if (found != 1)
      say(test.name + " of " + test.file + " is run by " + std::to_string(found) + " entries");
  }
  for (const std::string& file : files)
    if (!with_tests.contains(file)) say(file + " has no test");
  std::printf("%zu tests of %zu files\n", tests.size(), files.size());
  return wrong;
}

// A line is a file, and the entry that runs it.
std::vector<std::string> files_in(const std::string& list) {
  std::vector<std::string> all;
  std::ifstream in(list);
  for (std::string file, entry; in >> file >> entry;) all.push_back(file);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 1) {
    if (testing::UnitTest::GetInstance()->total_test_count() != 0) return RUN_ALL_TESTS();
    std::fprintf(stderr, "this program has no test\n");
    return kRefused;
  }
  const std::string_view option = argv[1];
  const auto value = [option](std::string_view name) { return std::string(option.substr(name.size())); };
  if (argc == 2 && option.starts_with("--file=")) return run_file(value("--file="));
  if (argc == 2 && option.starts_with("--all-of=")) return check(files_in(value("--all-of=")));
  std::fprintf(stderr, "unknown: %s\n", argv[1]);
  return kRefused;
}
