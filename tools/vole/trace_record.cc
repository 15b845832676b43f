// `vole trace record PID -s SECONDS -o FILE`: a trace of a program that runs, by its control socket.
//
// Proof  tests/tools/control_test.py
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

#include "commands.h"
#include "control_client.h"
#include "trace.h"

namespace vole_command {
namespace {

struct record_options {
  pid_t process = 0;
  int seconds = 5;
  std::string output;
};

void record(const record_options& chosen) {
  const int file = open(chosen.output.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0666);
  if (file < 0) {
    throw refusal(chosen.output + " cannot be written: " + std::generic_category().message(errno));
  }
  try {
    ask_program(chosen.process, "trace " + std::to_string(chosen.seconds), file,
                chosen.seconds + 60);
  } catch (const refusal&) {
    // If nothing was recorded, no empty file is left behind.
    if (lseek(file, 0, SEEK_END) == 0) unlink(chosen.output.c_str());
    close(file);
    throw;
  }
  close(file);
}

}  // namespace

void add_trace_record(CLI::App& trace, int&) {
  const auto chosen = std::make_shared<record_options>();
  CLI::App* const command = trace.add_subcommand(
      "record", "Record a trace of a program that was started with VOLE_DEBUG=control=1");
  command->add_option("PID", chosen->process, "The process")
      ->required()
      ->check(CLI::PositiveNumber);
  command->add_option("-s,--seconds", chosen->seconds, "For how long; 5 if it is not given")
      ->check(CLI::Range(1, 3600));
  command->add_option("-o,--output", chosen->output, "The trace to write")->required();
  command->callback([chosen] { record(*chosen); });
}

}  // namespace vole_command
