// `vole trace recover RING -o FILE`: what a flight recorder's ring still holds, as a trace.
//
// Proof  recover_test.cc, tests/tools/trace_check_test.py
#include <cstdio>
#include <memory>
#include <string>

#include "commands.h"
#include "output.h"
#include "trace.h"
#include "trace/reader.h"
#include "trace/recover.h"

namespace vole_command {
namespace {

struct recover_options {
  std::string ring;
  std::string output;
};

void recover_trace(const recover_options& chosen) {
  try {
    const auto content = vole_trace::load(chosen.ring);
    const vole_trace::recovered r = vole_trace::recover(content);
    write_file(chosen.output, r.file);
    for (const std::string& sentence : r.left_out) std::printf("%s\n", sentence.c_str());
    std::printf("%llu events in %llu generations are in %s.\n",
                static_cast<unsigned long long>(r.events),
                static_cast<unsigned long long>(r.generations), chosen.output.c_str());
  } catch (const vole_trace::damaged& why) {
    throw refusal(chosen.ring + ": " + why.what());
  }
}

}  // namespace

void add_trace_recover(CLI::App& trace, int&) {
  const auto chosen = std::make_shared<recover_options>();
  CLI::App* const command = trace.add_subcommand(
      "recover", "Make a trace of the ring that a flight recorder left behind");
  command->add_option("RING", chosen->ring, "The ring")->required();
  command->add_option("-o,--output", chosen->output, "The trace to write")->required();
  command->callback([chosen] { recover_trace(*chosen); });
}

}  // namespace vole_command
