// `vole`, the command: looks at programs that use vole, and builds small ones.
//
// Law    a bad argument, or a thing that cannot be looked at, is one sentence on stderr and
//        status 2; never a crash, never a usage page that hides the sentence.
// Proof  tests/tools/command_test.py
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
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
  add_exec(app, status);
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

// So that no file that is opened later takes the place of one that the caller has closed, and what is
// printed goes into it. Writing to a closed stdout fails, as it should.
void keep_standard_places() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0)
      (void)!open(fd == STDOUT_FILENO ? "/dev/full" : "/dev/null", O_RDWR);
}

// What was printed has arrived, or the caller is told otherwise.
bool has_arrived() {
  const bool is_lost = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !is_lost) return true;
  std::fprintf(stderr, "vole: the output could not be written: %s\n", std::strerror(errno));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_places();
  CLI::App app("Looks into programs that use vole, and builds small ones.", "vole");
  app.require_subcommand(1);
  const int status = run_command(app, argc, argv);
  return has_arrived() || status != 0 ? status : kRefused;
}
