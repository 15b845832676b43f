// `vole trace check FILE`: is the trace as its format says? Status 1 if not.
//
// Proof  tests/tools/trace_check_test.py
#include <cstdio>
#include <memory>
#include <string>

#include "commands.h"
#include "trace.h"
#include "trace/reader.h"

namespace vole_command {
namespace {

int check_trace(const std::string& path) {
  try {
    const auto content = vole_trace::load(path);
    vole_trace::trace_file file = vole_trace::read_file(content);
    vole_trace::totals counted;
    const auto problems = vole_trace::check(file, &counted);
    for (const std::string& problem : problems) std::printf("%s\n", problem.c_str());
    std::printf("%llu events in %llu generations can be read.\n",
                static_cast<unsigned long long>(counted.events),
                static_cast<unsigned long long>(counted.generations));
    return problems.empty() ? 0 : 1;
  } catch (const vole_trace::damaged& why) {
    throw refusal(path + ": " + why.what());
  }
}

}  // namespace

void add_trace_check(CLI::App& trace, int& status) {
  const auto file = std::make_shared<std::string>();
  CLI::App* const command =
      trace.add_subcommand("check", "Say what is wrong with a trace; status 1 if anything is");
  command->add_option("FILE", *file, "The trace")->required();
  command->callback([file, &status] { status = check_trace(*file); });
}

}  // namespace vole_command
