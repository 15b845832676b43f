// The verbs of `vole trace`. Each adds itself to the command, as commands.h says.
#pragma once

#include <CLI/CLI.hpp>

namespace vole_command {

void add_trace_check(CLI::App& trace, int& status);
void add_trace_export(CLI::App& trace, int& status);
void add_trace_record(CLI::App& trace, int& status);
void add_trace_recover(CLI::App& trace, int& status);
void add_trace_summary(CLI::App& trace, int& status);
void add_trace_view(CLI::App& trace, int& status);

}  // namespace vole_command
