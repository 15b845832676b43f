// A trace in the formats of other tools.
//
// Who    trace_export.cc.
// Law    each returns the whole file, and throws vole_trace::damaged if nothing can be read.
// Note   perfetto.cc and pprof.cc need protozero; where it is missing, absent.cc stands in for them.
// Proof  tests/tools/trace_export_test.py
#pragma once

#include <string>

#include "trace/file.h"

namespace vole_command {

// Ps as CPUs, goroutines as threads, wake-ups as such.
std::string perfetto_of(const vole_trace::trace_file& file);
// The JSON of chrome://tracing.
std::string chrome_of(const vole_trace::trace_file& file);
// Not compressed. Which profile: block, mutex, creation or sched.
std::string pprof_of(const vole_trace::trace_file& file, const std::string& profile);

}  // namespace vole_command
