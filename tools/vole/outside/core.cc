// `vole core`: cores in which every goroutine is a thread.
//
// Law    the file appears when it is whole. A live process goes on, whatever happens here.
// Proof  tests/tools/core_test.py
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <string>

#include "../commands.h"
#include "core_output.h"
#include "core_take.h"
#include "core_threads.h"
#include "elf_image.h"
#include "proc.h"

namespace vole_command {
namespace {

using namespace outside;

struct core_arguments {
  std::string program, core, output, pid;
  bool plain = false;
};

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat x = {}, y = {};
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

// Sentences are about the file that the user knows.
std::size_t add_threads(const unfinished_file& file, const std::string& program,
                        const std::string& known_as) {
  try {
    return add_goroutine_threads(file.path(), program);
  } catch (const refusal& wrong) {
    std::string sentence = wrong.what();
    for (std::size_t at; (at = sentence.find(file.path())) != std::string::npos;)
      sentence.replace(at, file.path().size(), known_as);
    throw refusal(sentence);
  }
}

void threads(const core_arguments& a) {
  if (is_same_file(a.core, a.output) || is_same_file(a.program, a.output))
    throw refusal("the output must be another file than the core and the program");
  elf_image(mapped_file(a.core).bytes(),
            a.core);  // before it is copied: refuses what is no ELF file
  unfinished_file file(a.output);
  copy_sparse(a.core, file.path());
  const std::size_t n = add_threads(file, a.program, a.core);
  file.keep();
  std::printf("%s: %zu parked goroutines are threads\n", a.output.c_str(), n);
}

void take(const core_arguments& a) {
  const int pid = pid_of(a.pid);
  unfinished_file file(a.output);
  const taken_core taken = take_core(pid, file.path());
  std::size_t n = 0;
  if (!a.plain) n = add_threads(file, taken.program, a.output);
  file.keep();
  std::printf("%s: %zu threads", a.output.c_str(), taken.threads);
  if (!a.plain) std::printf(" and %zu parked goroutines", n);
  std::printf("; %.1f MiB of memory, process %d paused for %.0f ms\n",
              static_cast<double>(taken.bytes) / (1 << 20), pid, taken.paused_ms);
}

}  // namespace

void add_core(CLI::App& app, int&) {
  CLI::App* const core =
      app.add_subcommand("core", "Make core files in which every goroutine is a thread");
  core->require_subcommand(1);
  const auto a = std::make_shared<core_arguments>();

  CLI::App* const make = core->add_subcommand(
      "threads", "A copy of CORE with a thread for each goroutine, for gdb, lldb and others");
  make->add_option("PROGRAM", a->program, "The program that the core is of")->required();
  make->add_option("CORE", a->core, "The core")->required();
  make->add_option("-o,--output", a->output, "Where to write")->required();
  make->callback([a] { threads(*a); });

  CLI::App* const live = core->add_subcommand(
      "take", "Such a core of a live process, which stands still meanwhile and then goes on");
  live->add_option("PID", a->pid, "The process")->required();
  live->add_option("-o,--output", a->output, "Where to write")->required();
  live->add_flag("--plain", a->plain, "Threads only: as the kernel would have written it");
  live->callback([a] { take(*a); });
}

}  // namespace vole_command
