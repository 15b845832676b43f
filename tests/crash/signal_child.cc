// Signals and the end of programs.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

#include "scenario.h"

namespace vole::crash_test {
namespace {

// Heard, then not heard any more: it kills, as it would have before.
int default_again() {
  vole::run([] {
    const chan<int> c(1);
    auto r = signal_notify(c, {SIGINT});
    std::raise(SIGINT);
    if (c.recv() == SIGINT) say("heard\n");
    r.stop();
    std::raise(SIGINT);
  });
  return kAlive;
}

int default_again_after_reset() {
  vole::run([] {
    const chan<int> c(1);
    const auto r = signal_notify(c, {SIGINT});
    std::raise(SIGINT);
    if (c.recv() == SIGINT) say("heard\n");
    reset_signal(SIGINT);
    std::raise(SIGINT);
  });
  return kAlive;
}

int second_one_after_cancel() {
  vole::run([] {
    auto [ctx, cancel] = signal_context(context::background(), {SIGINT});
    std::raise(SIGINT);
    ctx.done().recv();
    std::raise(SIGINT);
    say("heard\n");
    cancel();
    std::raise(SIGINT);
  });
  return kAlive;
}

int ignored() {
  ignore_signal(SIGTERM);
  std::raise(SIGTERM);
  return 4;
}

// Nobody but the system can send: no deadlock.
int waits_for_a_signal() {
  return vole::run([] {
    const chan<int> c(1);
    const auto r = signal_notify(c, {SIGALRM});
    ualarm(100'000, 0);
    return c.recv() == SIGALRM ? 0 : 1;
  });
}

int registration_ended() {
  return vole::run([] {
    const chan<int> c(1);
    signal_notify(c, {SIGALRM}).stop();
    return *c.recv();
  });
}

// A forked child that ends its copy of the registration, or leaves that to exit().
int forked_child_ends_it() {
  static registration lasting;
  const chan<int> c(1);
  lasting = signal_notify(c, {SIGTERM});
  // A teller that has told something has started: a sanitizer holds locks of its own while a thread
  // starts, which a child forked meanwhile would find locked for ever.
  std::raise(SIGTERM);
  if (c.recv() != SIGTERM) return 1;
  const pid_t child = fork();
  if (child == 0) {
    try {
      (void)signal_notify(c, {SIGTERM});
      _exit(1);
    } catch (const std::logic_error&) {
    }
    lasting.stop();
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  std::raise(SIGTERM);
  return c.recv() == SIGTERM ? status : 1;
}

int ends_with_exit() {
  static const registration lasting = signal_notify(chan<int>(1), {SIGTERM});
  vole::go([] { vole::sleep_for(std::chrono::hours(1)); });
  std::raise(SIGTERM);
  std::exit(3);
}

constexpr scenario kAll[] = {
    {"default_again", default_again},           {"waits_for_a_signal", waits_for_a_signal},
    {"registration_ended", registration_ended}, {"forked_child_ends_it", forked_child_ends_it},
    {"ends_with_exit", ends_with_exit},
    {"default_again_after_reset", default_again_after_reset},
    {"second_one_after_cancel", second_one_after_cancel},
    {"ignored", ignored},
};

}  // namespace
}  // namespace vole::crash_test

int main(int argc, char** argv) {
  return vole::crash_test::play(vole::crash_test::kAll, argc, argv);
}
