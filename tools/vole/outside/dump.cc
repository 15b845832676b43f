// `vole dump`: every goroutine of a process or a core, in words.
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include "../commands.h"
#include "names.h"
#include "picture.h"
#include "proc.h"
#include "text.h"
#include "unwinder.h"

namespace vole_command {
namespace {

using namespace outside;

struct dump_arguments {
  int pid = 0;
  std::string core, program, frames = "own";
  bool tell_times = false;
};

double now_ms() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

void dump(const dump_arguments& a) {
  const double began = now_ms();
  const std::unique_ptr<target> t =
      a.core.empty() ? target::of_process(a.pid) : target::of_core(a.core, a.program);
  const found_root root = find_root(*t);
  const picture p = take_picture(*t, root);
  const double read = now_ms();
  const bool is_cut = t->core() != nullptr && t->core()->is_cut();
  if (is_cut && p.goroutines.empty())
    throw refusal(a.core + " is cut short, and its goroutines are not in it: see ulimit -c");
  session s(*t);
  const auto frames = unwind_all(s, p, root);
  const double unwound = now_ms();
  const naming names(s, root.sources);
  const std::string text = text_of(p, root, frames, a.frames == "all");
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (p.goroutines.empty())
    std::printf("no goroutines: %s\n", p.sum.procs == 0 ? "the runtime does not run" : "none live");
  if (is_cut)
    std::fprintf(stderr, "vole dump: %s is cut short: goroutines or their stacks may be missing\n",
                 a.core.c_str());
  if (a.tell_times)
    std::fprintf(stderr,
                 "%zu goroutines; paused %.2f ms; read %.1f ms, %zu stacks of it in the pause; "
                 "unwound %.1f ms; named %.1f ms\n",
                 p.goroutines.size(), p.paused_ms, read - began, p.read_again, unwound - read,
                 now_ms() - unwound);
}

}  // namespace

void add_dump(CLI::App& app, int&) {
  CLI::App* const command = app.add_subcommand(
      "dump", "Print every goroutine of a process, or of a core file: its state and its calls");
  const auto a = std::make_shared<dump_arguments>();
  CLI::Option* const core =
      command->add_option("--core", a->core, "A core file, instead of a process");
  command->add_flag("--times", a->tell_times, "Say on stderr how long it took");
  command->add_option("--frames", a->frames, "all: vole's own frames, too; own: the program's")
      ->check(CLI::IsMember({"own", "all"}));
  const auto who = std::make_shared<std::string>();
  command->add_option("PID|PROGRAM", *who, "The process; with --core, the program it is of")
      ->required();
  command->callback([a, who, core] {
    if (*core) {
      a->program = *who;
      if (a->core.empty()) throw refusal("--core needs the name of a file");
    } else {
      a->pid = pid_of(*who);
    }
    dump(*a);
  });
}

}  // namespace vole_command
