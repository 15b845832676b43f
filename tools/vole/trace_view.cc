// `vole trace view FILE`: the viewer, in the browser. The page and the trace are served on
// 127.0.0.1, or written as one file that can be mailed.
//
// Proof  tests/tools/trace_view_test.py
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "commands.h"
#include "output.h"
#include "trace.h"
#include "trace_page.h"
#include "trace_serve.h"

namespace vole_command {
namespace {

struct view_options {
  std::string file;
  std::string output;
  bool no_open = false;
};

// Asks the desktop to open the address. If it cannot, the printed address is all there is.
void open_in_browser(const std::string& address) {
  std::string program = "xdg-open", argument = address;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  posix_spawnp(&child, program.c_str(), &quiet, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&quiet);
}

void write_page(const view_options& chosen) {
  const std::string page = page_with(read_page(), base_name(chosen.file), read_trace(chosen.file));
  write_file(chosen.output, page);
}

void view(const view_options& chosen) {
  if (!chosen.output.empty()) return write_page(chosen);
  std::string trace = read_trace(chosen.file);
  trace_server server(page_that_fetches(read_page(), base_name(chosen.file), "trace"),
                      std::move(trace));
  std::printf("%s\nCtrl-C ends it.\n", server.address().c_str());
  std::fflush(stdout);
  if (!chosen.no_open) open_in_browser(server.address());
  server.serve();
}

}  // namespace

void add_trace_view(CLI::App& trace, int&) {
  const auto chosen = std::make_shared<view_options>();
  CLI::App* const command = trace.add_subcommand("view", "Show a trace in the browser");
  command->add_option("FILE", chosen->file, "The trace")->required();
  command->add_option("-o,--output", chosen->output,
                      "Write the page, with the trace in it, to this file");
  command->add_flag("--no-open", chosen->no_open, "Print the address; do not start a browser");
  command->callback([chosen] { view(*chosen); });
}

}  // namespace vole_command
