// `vole trace`: what can be done with execution traces. Each verb is a file of its own.
#include "trace.h"

#include "commands.h"

namespace vole_command {

void add_trace(CLI::App& app, int& status) {
  CLI::App* const trace = app.add_subcommand("trace", "Look at execution traces");
  trace->require_subcommand(1);
  add_trace_check(*trace, status);
  add_trace_export(*trace, status);
  add_trace_record(*trace, status);
  add_trace_recover(*trace, status);
  add_trace_summary(*trace, status);
  add_trace_view(*trace, status);
}

}  // namespace vole_command
