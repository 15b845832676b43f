// The viewer's page with a trace in it.
//
// Who    trace_view.cc.
// Law    the name of the file is text: it cannot become markup.
// Note   the page is built by cmake/viewer.cmake into share/vole, beside bin. VOLE_VIEWER names
//        another one.
// Proof  tests/tools/trace_view_test.py
#pragma once

#include <string>

namespace vole_command {

std::string read_trace(const std::string& path);  // throws refusal if it is none
std::string read_page();                          // throws refusal if it was not built
std::string base_name(const std::string& path);

// The page that fetches the trace from `at`, and the page that has it inside.
std::string page_that_fetches(const std::string& page, const std::string& name,
                              const std::string& at);
std::string page_with(const std::string& page, const std::string& name, const std::string& trace);

}  // namespace vole_command
