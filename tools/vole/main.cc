// `vole`, the command: looks at programs that use vole, and builds small ones.
//
// Law    a bad argument, or a thing that cannot be looked at, is one sentence on stderr and
//        status 2; never a crash, never a usage page that hides the sentence.
// Proof  tests/tools/command_test.py
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "commands.h"

namespace {

using namespace vole_command;

// "vole core take" for the innermost command that the arguments name.
std::string where(const CLI::App& app) {
  for (const CLI::App* next : app.get_subcommands()) {
    return app.get_name() + " " + where(*next);
  }
  return app.get_name();
}

int complain(const CLI::App& app, std::string sentence) {
  // CLI11 begins a new line before each of several reasons.
  for (char& c : sentence) {
    if (c == '\n') c = ' ';
  }
  const std::string name = where(app);
  std::fprintf(stderr, "%s: %s\n", name.c_str(), sentence.c_str());
  return kRefused;
}

int run_command(CLI::App& app, int argc, char** argv) {
  int status = 0;
  add_core(app, status);
  add_dump(app, status);
  add_run(app, status);
  add_top(app, status);
  add_trace(app, status);
  add_version(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help
    return app.exit(wanted);
  } catch (const CLI::ParseError& wrong) {
    return complain(app, wrong.what() + std::string("; see ") + where(app) + " --help");
  } catch (const std::exception& wrong) {
    return complain(app, wrong.what());
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Looks into programs that use vole, and builds small ones.", "vole");
  app.require_subcommand(1);
  const int status = run_command(app, argc, argv);
  // If the output could not be written, the status says so.
  if (std::fflush(stdout) != 0 && status == 0) return kRefused;
  return status;
}
