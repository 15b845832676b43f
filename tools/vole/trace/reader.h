// Reading execution traces: load a file, check it, or be told what happened in it.
// Written from docs/trace-format.md; the viewer has the other reader.
//
// Who    the verbs of `vole trace`; tests of the tracer, which link vole_trace_reader.
// Law    whatever the bytes are, the outcome is a sentence or a result. Memory is that of the file
//        and of the goroutines in it, not of the events.
// Proof  reader_test.cc, tests/tools/trace_fuzz.cc
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/file.h"
#include "trace/order.h"
#include "trace/scan.h"

namespace vole_trace {

// The bytes of a file. Throws damaged, with a sentence, if it cannot be read or is too large.
std::vector<std::uint8_t> load(const std::string& path);

// What is wrong with a trace, as sentences; none if all of it can be read. What is no trace at all
// is thrown, as damaged.
std::vector<std::string> check(bytes content);
std::vector<std::string> check(const std::string& path);

struct totals {
  std::uint64_t generations = 0;  // that can be read
  std::uint64_t events = 0;       // in them
};
// The same of a file that was read already. Generations that turn out bad get their `trouble`.
std::vector<std::string> check(trace_file& file, totals* counted = nullptr);

}  // namespace vole_trace
