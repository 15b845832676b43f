// `vole trace summary FILE [--json]`: a trace in numbers.
//
// Proof  tests/tools/trace_check_test.py
#include <cstdio>
#include <memory>
#include <string>

#include "commands.h"
#include "trace.h"
#include "trace/reader.h"
#include "trace/summary.h"

namespace vole_command {
namespace {

struct summary_options {
  std::string file;
  bool json = false;
};

void summarise(const summary_options& chosen) {
  try {
    const auto content = vole_trace::load(chosen.file);
    const vole_trace::trace_file file = vole_trace::read_file(content);
    const vole_trace::summary s = vole_trace::summarise(file);
    const std::string text =
        chosen.json ? vole_trace::json_of(file, s) : vole_trace::text_of(file, s);
    std::fwrite(text.data(), 1, text.size(), stdout);
  } catch (const vole_trace::damaged& why) {
    throw refusal(chosen.file + ": " + why.what());
  }
}

}  // namespace

void add_trace_summary(CLI::App& trace, int&) {
  const auto chosen = std::make_shared<summary_options>();
  CLI::App* const command = trace.add_subcommand(
      "summary", "Where goroutines spent their time, what they waited for, who woke them");
  command->add_option("FILE", chosen->file, "The trace")->required();
  command->add_flag("--json", chosen->json, "For programs; times are in nanoseconds");
  command->callback([chosen] { summarise(*chosen); });
}

}  // namespace vole_command
