// A trace from a flight recorder's ring, as a process left it when it died: "The ring" in
// docs/trace-format.md.
//
// Law    the process may have died anywhere, so any slot may be half written. Whatever the bytes
//        are, what comes out is a trace that `check` finds nothing wrong with, or a sentence.
// Note   a generation is kept if, by itself, it checks. Its end may be missing: then it is the last
//        one of an unfinished file, or, if another one began after it, that begin is its end.
// Proof  recover_test.cc
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/bytes.h"

namespace vole_trace {

struct recovered {
  std::string file;
  std::uint64_t generations = 0, events = 0;
  std::vector<std::string> left_out;  // sentences
};

recovered recover(bytes ring);  // throws damaged: a sentence

}  // namespace vole_trace
