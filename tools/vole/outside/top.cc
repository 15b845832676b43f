// `vole top`: what the scheduler of a process does, again and again.
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <unordered_map>

#include "../commands.h"
#include "names.h"
#include "page.h"
#include "picture.h"
#include "proc.h"
#include "sched/report/frames.h"
#include "screen.h"
#include "unwinder.h"

namespace vole_command {
namespace {

using namespace outside;

// Names of functions, each looked up once.
class functions {
 public:
  functions(const target& t, const found_root& root)
      : session_(t), naming_(session_, root.sources) {}
  const std::string& of(std::uint64_t invoke) {
    const auto [known, is_new] = names_.try_emplace(invoke);
    if (is_new)
      texts_.put_function(
          invoke,
          [](std::string_view text, void* to) noexcept {
            static_cast<std::string*>(to)->append(text);
          },
          &known->second);
    // vole's own wrapper around the main function says nothing to a reader.
    if (known->second.starts_with("vole::detail::run_main(")) known->second = "main, by vole::run()";
    return known->second;
  }

 private:
  session session_;
  naming naming_;
  vole::rt::frame_texts texts_{false};
  std::unordered_map<std::uint64_t, std::string> names_;
};

struct watch {
  std::unique_ptr<target> t;
  found_root root;
  functions names;

  explicit watch(int pid) : t(target::of_process(pid)), root(find_root(*t)), names(*t, root) {}

  picture look() const {
    if (threads_of(t->pid()).empty()) throw refusal(t->what() + " has ended");
    return take_records(*t, root);
  }
  std::string page(const picture& before, const picture& now, page_size size) {
    char clock[16] = "";
    const std::time_t seconds = std::time(nullptr);
    std::tm parts{};
    std::strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&seconds, &parts));
    std::string program;
    for (const module& m : t->modules())
      if (m.is_program) program = m.file_name();
    return page_of(before, now, root, "vole top: " + t->what() + ", " + program + ", " + clock,
                   size, [this](std::uint64_t invoke) { return names.of(invoke); });
  }
};

void print_once(int pid, int interval_ms) {
  watch w(pid);
  const picture before = w.look();
  const timespec pause{interval_ms / 1000, interval_ms % 1000 * 1000 * 1000L};
  nanosleep(&pause, nullptr);
  const std::string text = w.page(before, w.look(), {});
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// A change of the window's size shows the same page anew; the rates are of whole intervals.
void show_until_q(int pid, int interval_ms) {
  watch w(pid);
  picture before = w.look(), now = w.look();
  screen s;
  for (;;) {
    s.show(w.page(before, now, s.size()));
    switch (s.wait(interval_ms)) {
      case screen::event::quit: return;
      case screen::event::resized: break;
      case screen::event::time_is_up:
        before = std::move(now);
        now = w.look();
        break;
    }
  }
}

}  // namespace

void add_top(CLI::App& app, int&) {
  struct arguments {
    std::string pid;
    bool once = false;
    int interval_ms = 1000;
  };
  CLI::App* const command =
      app.add_subcommand("top", "Watch a process: its Ps, queues, threads and goroutines; q quits");
  const auto a = std::make_shared<arguments>();
  command->add_option("PID", a->pid, "The process")->required();
  command->add_flag("--once", a->once, "Print one page and end");
  command->add_option("--interval", a->interval_ms, "Milliseconds from one look to the next")
      ->check(CLI::Range(10, 3600 * 1000));
  command->callback([a] {
    const int pid = pid_of(a->pid);
    a->once ? print_once(pid, a->interval_ms) : show_until_q(pid, a->interval_ms);
  });
}

}  // namespace vole_command
