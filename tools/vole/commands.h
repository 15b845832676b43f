// The subcommands of `vole`, and what they have in common.
//
// Who    main.cc calls each add_ function once, before the arguments are read.
// Law    a command adds itself to the app, with a callback that does the work. What it cannot do
//        because of its arguments or of what it was pointed at is a thrown `refusal`: main prints
//        the sentence to stderr and the status is 2. Any other status goes into `status`.
// Note   a command is a file of its own, named after it. Those in outside/ need libdw; where it
//        is missing, absent.cc stands in for them and says so.
// Proof  tests/tools/command_test.py
#pragma once

#include <CLI/CLI.hpp>

#include "refusal.h"

namespace vole_command {

void add_exec(CLI::App& app, int& status);
void add_run(CLI::App& app, int& status);
void add_trace(CLI::App& app, int& status);
void add_version(CLI::App& app, int& status);

// outside/, or absent.cc
void add_core(CLI::App& app, int& status);
void add_dump(CLI::App& app, int& status);
void add_top(CLI::App& app, int& status);

}  // namespace vole_command
