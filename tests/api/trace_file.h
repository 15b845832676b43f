// A trace that a test has recorded, read by the reader of `vole trace`.
//
// Who    the tests of vole/trace.h. They link vole_trace_reader.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "trace/reader.h"

namespace vole_test {

// A file of its own, gone with the test.
class scratch {
 public:
  explicit scratch(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("vole-" + std::to_string(getpid()) + "-" + name)) {}
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Reads all of it; whatever is wrong with it fails the test. But a busy machine may starve the
// thread that writes: what was lost then is counted, and that is not wrong.
inline vole_trace::totals expect_good(const std::string& path) {
  vole_trace::totals counted;
  try {
    const std::vector<std::uint8_t> content = vole_trace::load(path);
    vole_trace::trace_file file = vole_trace::read_file({content.data(), content.size()});
    bool lost = false;
    for (const std::string& sentence : vole_trace::check(file, &counted)) {
      const bool says_lost = sentence.find("events were lost") != std::string::npos;
      lost |= says_lost;
      if (!says_lost) ADD_FAILURE() << path << ": " << sentence;
    }
    if (!lost) {
      EXPECT_EQ(counted.generations, file.generations.size()) << path;
    }
  } catch (const std::exception& e) {
    ADD_FAILURE() << path << ": " << e.what();
  }
  return counted;
}

inline std::string content_of(const std::string& path) {
  const std::vector<std::uint8_t> bytes = vole_trace::load(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace vole_test
