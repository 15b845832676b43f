// `vole trace export --format perfetto|chrome|pprof FILE -o OUT`: a trace for other tools.
//
// Proof  tests/tools/trace_export_test.py
#include <memory>
#include <string>

#include "commands.h"
#include "export/export.h"
#include "gzip.h"
#include "output.h"
#include "trace.h"
#include "trace/reader.h"

namespace vole_command {
namespace {

struct export_options {
  std::string format, file, output;
  std::string profile = "block";
};

std::string exported(const export_options& chosen, const vole_trace::trace_file& file) {
  if (chosen.format == "perfetto") return perfetto_of(file);
  if (chosen.format == "chrome") return chrome_of(file);
  std::string plain = pprof_of(file, chosen.profile);
  std::string packed = gzipped(plain);
  return packed.empty() ? plain : packed;  // pprof reads both
}

void export_trace(const export_options& chosen) {
  try {
    const auto content = vole_trace::load(chosen.file);
    const vole_trace::trace_file file = vole_trace::read_file(content);
    write_file(chosen.output, exported(chosen, file));
  } catch (const vole_trace::damaged& why) {
    throw refusal(chosen.file + ": " + why.what());
  }
}

}  // namespace

void add_trace_export(CLI::App& trace, int&) {
  const auto chosen = std::make_shared<export_options>();
  CLI::App* const command = trace.add_subcommand("export", "Write a trace for other tools");
  command->add_option("--format", chosen->format, "perfetto, chrome or pprof")
      ->required()
      ->check(CLI::IsMember({"perfetto", "chrome", "pprof"}));
  command
      ->add_option("--profile", chosen->profile,
                   "For pprof: block (the default), mutex, creation or sched")
      ->check(CLI::IsMember({"block", "mutex", "creation", "sched"}));
  command->add_option("FILE", chosen->file, "The trace")->required();
  command->add_option("-o,--output", chosen->output, "The file to write")->required();
  command->callback([chosen] { export_trace(*chosen); });
}

}  // namespace vole_command
